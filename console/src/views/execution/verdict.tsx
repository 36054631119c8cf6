/** What a reader wants to know first: is it in danger, why does it wait, or how did it end. */

import type { Execution } from "../../api/types";
import { Advice } from "../../components/advice";
import { DeadlineBar } from "../../components/deadline-bar";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { Steps } from "../../components/remedies/buttons";
import { opens, type Step, stepsOf } from "../../components/remedies/steps";
import { DeadlineStatus, Mark } from "../../components/status";
import { Relative, Time } from "../../components/time";
import { coarse } from "../../format/duration";
import { withQuery } from "../../router";
import { now } from "../../state/clock";
import { FINAL } from "./final";
import { nameOfWaited, waitingWords } from "./waits";

const MOST_NAMED = 5;

export function Verdict({ execution }: { execution: Execution }) {
  const { deadline, waiting_for: waiting, error } = execution;
  const isLive = !FINAL.has(execution.status);
  const preview = previewOf(execution);
  if (!(isLive && (deadline || waiting || execution.progress)) && !error && !preview) return null;
  return (
    <section class="card verdict" aria-label="Verdict">
      <div>
        {waiting && <WaitingSentence waiting={waiting} timezone={execution.timezone} />}
        {isLive && deadline && <DeadlineForecast execution={execution} deadline={deadline} />}
        {isLive && execution.progress && <Progress execution={execution} />}
        {preview && (
          <p class="result-preview">
            <span class="dim">Result</span> <code>{preview}</code>{" "}
            <Link to={withQuery({ tab: "result" })} class="underlined">
              Open result
            </Link>
          </p>
        )}
        {error && (
          <div class="failure">
            <p class="strong hue-bad">{error.type}</p>
            <p>{error.message}</p>
          </div>
        )}
      </div>
      {isLive && (deadline?.cause || waiting) && (
        <div class="stack-small">
          <Advice cause={deadline?.cause} remedy={deadline?.remedy} />
          {waiting && <Before title="Have to end first" ids={waiting.executions} names={waiting.job_names} />}
          {waiting && <Before title="Go first" ids={waiting.executions_ahead} names={waiting.job_names} />}
          <div class="actions">
            <Steps steps={stepsHere(execution)} owner={execution.owner} />
          </div>
        </div>
      )}
    </section>
  );
}

type Waiting = NonNullable<Execution["waiting_for"]>;

function WaitingSentence({ waiting, timezone }: { waiting: Waiting; timezone: string }) {
  if (waiting.what === "time" && waiting.until)
    return (
      <p class="waiting">
        <Mark hue="idle" icon="scheduled">
          Due <Time at={waiting.until} jobZone={timezone} />, <Relative at={waiting.until} />
        </Mark>
      </p>
    );
  return (
    <p class="waiting">
      <span class="mark hue-wait strong">
        <Icon name="waiting" />
        <span>{waitingWords(waiting)}</span>
      </span>
      {waiting.until && (
        <span class="dim">
          {" "}
          until {waiting.what === "rest" ? "" : "about "}
          <Time at={waiting.until} jobZone={timezone} />, <Relative at={waiting.until} />
        </span>
      )}
    </p>
  );
}

function DeadlineForecast({
  execution,
  deadline,
}: {
  execution: Execution;
  deadline: NonNullable<Execution["deadline"]>;
}) {
  const seconds = (Date.parse(deadline.at) - now.value.getTime()) / 1000;
  return (
    <>
      <p class="chips">
        <DeadlineStatus state={deadline.state} />
        <span>
          {deadline.probability != null && (
            <>
              <b>{Math.round(deadline.probability * 100)}% likely</b> to end by{" "}
            </>
          )}
          <Time at={deadline.at} jobZone={execution.timezone} />
          {seconds > 0 ? `, in ${coarse(seconds)}` : `, ${coarse(-seconds)} ago`}
        </span>
      </p>
      <DeadlineBar deadline={deadline} startedAt={execution.started_at} />
      {deadline.runs_used != null && deadline.checked_at && (
        <p class="note">
          From {deadline.runs_used} earlier runs. Checked <Time at={deadline.checked_at} />.
        </p>
      )}
    </>
  );
}

function Before({ title, ids, names }: { title: string; ids: string[]; names: Waiting["job_names"] }) {
  if (ids.length === 0) return null;
  return (
    <div>
      <p class="note">{title}</p>
      <ul>
        {ids.slice(0, MOST_NAMED).map((id) => (
          <li key={id}>
            <Link to={`/executions/${id}`} class="linked">
              {nameOfWaited(id, names)}
            </Link>
          </li>
        ))}
        {ids.length > MOST_NAMED && <li class="dim">and {ids.length - MOST_NAMED} more</li>}
      </ul>
    </div>
  );
}

const MOST_CHARACTERS = 200;

/** The beginning of what it returned. */
function previewOf({ status, result }: Execution): string {
  if (status !== "succeeded" || result.value == null) return "";
  const text = JSON.stringify(result.value);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

/** The remedies for its deadline; the log is on this page. */
function stepsHere({ execution_id: id, job_id: job, lane, waiting_for: waiting, deadline }: Execution): Step[] {
  const steps = stepsOf(deadline?.remedies ?? [], job).filter((one) => one.to !== `/executions/${id}`);
  const needsSlot = lane === "long" && waiting?.what === "slot" && !steps.some((one) => one.to === "/lane");
  return needsSlot ? [...steps, opens("Open long lane", "/lane")] : steps;
}

/** How much is done, and how much usually is by now. */
function Progress({ execution }: { execution: Execution }) {
  const { progress, usual_percent: usual } = execution;
  if (!progress) return null;
  return (
    <p class="progress">
      <b>{Math.round(progress.percent)}% done</b>
      <progress max="100" value={progress.percent} aria-label="Progress" />
      <span class="dim">
        {[progress.message, usual != null && `usually ${Math.round(usual)}% by now`].filter(Boolean).join(", ")}
      </span>
    </p>
  );
}
