/** The long lane: which parts hold slots, and which wait, least laxity first. */

import { send } from "../../api/client";
import type { LaneView as Lane, LanePart } from "../../api/types";
import { closeDialog, Dialog } from "../../components/dialog";
import { Link } from "../../components/link";
import { Empty, Loaded } from "../../components/states";
import { ExecutionStatus } from "../../components/status";
import { Time } from "../../components/time";
import { say } from "../../components/toasts";
import { coarse, plural } from "../../format/duration";
import { place, withQuery } from "../../router";
import { mayManage } from "../../state/me";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";

export function LaneView() {
  useTitle("Long lane");
  const lane = useResource<Lane>("/lane");
  return (
    <Loaded what="Long lane" of={lane}>
      {(data) => (
        <div class="stack">
          <header>
            <h1>
              {data.slots.taken_tasks} of {data.slots.tasks} slots, {data.slots.taken_vcpus} of {data.slots.vcpus} vCPU
            </h1>
            <p class="dim">{plural(data.slots.waiting_tasks, "part")} waiting, least laxity first.</p>
          </header>
          <Parts title="Runs now" parts={data.holding} none="No part holds a slot" />
          <Parts title="Waits" parts={data.waiting} none="No part waits for a slot" />
          <MakeRoom parts={data.holding} reload={lane.reload} />
        </div>
      )}
    </Loaded>
  );
}

function Parts({ title, parts, none }: { title: string; parts: LanePart[]; none: string }) {
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
      </header>
      {parts.length === 0 ? (
        <Empty title={none} />
      ) : (
        <table class="table is-cards" aria-label={title}>
          <thead>
            <tr>
              <th scope="col">Execution</th>
              <th scope="col">Status</th>
              <th scope="col">Latest safe start</th>
              <th scope="col">Ends about</th>
              <th scope="col" class="number">
                Can wait
              </th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {parts.map((part) => (
              <Row key={part.execution_id + part.part} part={part} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ part }: { part: LanePart }) {
  const canYield = part.preemptible && part.granted_at !== null && !part.stopping && mayManage(part.owner);
  return (
    <tr>
      <td>
        <Link to={`/executions/${part.execution_id}`} class="name">
          {part.job_name ?? part.job_id}
        </Link>
        <span class="note">{part.part === "all" ? part.owner : `${part.owner}, part ${part.part}`}</span>
      </td>
      <td>
        <ExecutionStatus
          status={part.status}
          detail={part.progress ? `${Math.round(part.progress.percent)}%` : undefined}
        />
        {part.stopping && <span class="note">stopping: {part.stopping}</span>}
      </td>
      <td>
        <Time at={part.latest_start} />
      </td>
      <td>
        <Time at={part.expected_end} />
      </td>
      <td class="number">{part.laxity_seconds > 0 ? coarse(part.laxity_seconds) : "not at all"}</td>
      <td class="number">
        {canYield && (
          <Link to={withQuery({ do: part.execution_id })} class="button">
            Make room…
          </Link>
        )}
      </td>
    </tr>
  );
}

function MakeRoom({ parts, reload }: { parts: LanePart[]; reload: () => void }) {
  const part = parts.find((one) => one.execution_id === place.value.query.get("do"));
  if (!part) return null;
  const name = part.job_name ?? part.job_id;
  const confirm = async () => {
    await send("POST", `/executions/${part.execution_id}/yield`);
    closeDialog();
    reload();
    say(`${name} releases its slot at the next checkpoint`);
  };
  return (
    <Dialog title={`Make room: ${name}?`} verb="Release its slot" onConfirm={confirm}>
      <p>
        It stops at its next checkpoint, waits for a slot again, and continues from the checkpoint. Nothing that is done
        is lost. It can wait {part.laxity_seconds > 0 ? coarse(part.laxity_seconds) : "not at all"} and still meet its
        deadline.
      </p>
    </Dialog>
  );
}
