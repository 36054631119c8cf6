/** Asks before a remedy is applied: what it does, its dry run, and the verb on the button. */

import { send } from "../../api/client";
import { Problem } from "../../api/problem";
import type { RunResponse, YieldForecast } from "../../api/types";
import { count, plural } from "../../format/duration";
import { dueOf, when } from "../../format/time";
import { place } from "../../router";
import { useAnswer } from "../../state/resource";
import { closeDialog, Dialog } from "../dialog";
import { DryRun, dryRunPath, NoDryRun } from "../dry-run";
import { Link } from "../link";
import { say } from "../toasts";
import { type Action, actionIn } from "./steps";

interface Props {
  /** The names of jobs and executions, as far as the view knows them. */
  names: ReadonlyMap<string, string>;
  reload: () => void;
  /** By default, what the address asks for. */
  wanted?: ReturnType<typeof actionIn>;
}

export function RemedyDialog({ names, reload, wanted = actionIn(place.value.query) }: Props) {
  if (!wanted) return null;
  const { action, id } = wanted;
  const name = names.get(id) ?? nameOf(id);
  if (action === "yield") return <MakeRoom key={id} id={id} name={name} reload={reload} />;
  return <Change key={id} change={changeOf(action, id)} name={name} reload={reload} />;
}

interface Asked {
  method: string;
  path: string;
  body?: unknown;
  title: (name: string) => string;
  verb: string;
  consequence: string;
  done: (name: string) => string;
  to: string;
}

function changeOf(action: Exclude<Action, "yield">, id: string): Asked {
  const job = { to: `/jobs/${id}` };
  switch (action) {
    case "retry":
      return {
        method: "POST",
        path: `/executions/${id}/retry`,
        title: (name) => `Retry ${name}?`,
        verb: "Retry",
        consequence: "Creates another execution of the same due instant. Finished partitions and checkpoints are kept.",
        done: (name) => `${name} is retried`,
        to: `/executions/${id}`,
      };
    case "pause":
      return {
        ...job,
        method: "POST",
        path: `/jobs/${id}/pause`,
        title: (name) => `Pause ${name}?`,
        verb: "Pause the job",
        consequence: "Its messages are kept, and run when it is resumed.",
        done: (name) => `${name} is paused`,
      };
    case "resume":
      return {
        ...job,
        method: "POST",
        path: `/jobs/${id}/resume`,
        title: (name) => `Resume ${name}?`,
        verb: "Resume the job",
        consequence: "Messages that it has kept run now. Instants that came due follow its misfire rule.",
        done: (name) => `${name} is resumed`,
      };
    default:
      return {
        ...job,
        method: "PATCH",
        path: `/jobs/${id}`,
        body: { priority: action },
        title: (name) => `Set ${name} to ${action}?`,
        verb: `Set to ${action}`,
        consequence: `Its next executions use the queue ${action}; executions that are already queued keep their queue.`,
        done: (name) => `${name} has the priority ${action}`,
      };
  }
}

function Change({ change, name, reload }: { change: Asked; name: string; reload: () => void }) {
  const { method, path, body } = change;
  const confirm = async () => {
    const sent = await send<Partial<RunResponse>>(method, path, body);
    const created = sent.data.execution?.execution_id;
    closeDialog();
    reload();
    say(change.done(name), { text: "Open", to: created ? `/executions/${created}` : change.to });
  };
  return (
    <Dialog title={change.title(name)} verb={change.verb} onConfirm={confirm}>
      <p>{change.consequence}</p>
      <DryRun method={method} path={path} body={body} />
    </Dialog>
  );
}

/** Another execution releases its slots: the one with the most time to spare. */
function MakeRoom({ id, name, reload }: { id: string; name: string; reload: () => void }) {
  const path = `/executions/${id}/yield`;
  const forecast = useAnswer<YieldForecast>("POST", dryRunPath(path));
  const confirm = async () => {
    await send("POST", path);
    closeDialog();
    reload();
    say(`${name} releases its slots at the next checkpoint`, { text: "Open", to: `/executions/${id}` });
  };
  return (
    <Dialog
      title="Make room in the long lane?"
      verb="Release its slots"
      onConfirm={confirm}
      isDisabled={forecast === null || forecast instanceof Problem}
    >
      <p>
        <Link to={`/executions/${id}`} class="underlined">
          {name}
        </Link>{" "}
        has the most time to spare. It stops at its next checkpoint, waits for a slot again, and continues from the
        checkpoint.
      </p>
      {forecast === null || forecast instanceof Problem ? (
        <>
          <NoDryRun problem={forecast} />
          {forecast && !forecast.isAway && (
            <p>
              <Link to={`/executions/${id}?do=cancel`} class="underlined">
                Cancel it instead…
              </Link>
            </p>
          )}
        </>
      ) : (
        <p class="well" role="status">
          Dry run, just now: {plural(forecast.releases.length, "slot")} released
          {forecast.grants.length > 0
            ? `, ${count(forecast.grants.length)} granted to waiting parts.`
            : ". No other part waits: it would get the slots again."}
        </p>
      )}
    </Dialog>
  );
}

/** `the execution due Tue 12:00`, or the id of a job. */
function nameOf(id: string): string {
  const due = dueOf(id);
  return due ? `the execution due ${when(due)}` : id;
}
