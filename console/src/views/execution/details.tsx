import type { ComponentChildren } from "preact";
import type { Execution } from "../../api/types";
import { Link } from "../../components/link";
import { ExecutionStatus, words } from "../../components/status";
import { Time } from "../../components/time";
import { duration } from "../../format/duration";
import { abbreviation, withZone, zone } from "../../format/time";
import { WorkerLink } from "./part-details";
import { nameOf } from "./view";
import { pastWaits } from "./waits";

export function Details({ execution }: { execution: Execution }) {
  const rows: [string, ComponentChildren][] = [
    [
      "Job",
      <Link key="job" to={`/jobs/${execution.job_id}`}>
        {nameOf(execution)}
      </Link>,
    ],
    ["Task", execution.task],
    ["Team", execution.owner],
    [
      "Due",
      <>
        <Time at={execution.scheduled_at} jobZone={execution.timezone} />{" "}
        {abbreviation(new Date(execution.scheduled_at))}
        {otherZones(execution.timezone).map((name) => (
          <span key={name} class="note">
            {withZone(new Date(execution.scheduled_at), name)}
          </span>
        ))}
      </>,
    ],
    ["Origin", words(execution.origin)],
    ["Lane", `${words(execution.lane)}, priority ${execution.priority}`],
    ["Attempt", execution.attempt || "None yet"],
  ];
  if (execution.worker_id) rows.push(["Worker", <WorkerLink key="worker" id={execution.worker_id} />]);
  if (execution.lease_until)
    rows.push([
      "Lease",
      <>
        until <Time at={execution.lease_until} jobZone={execution.timezone} />, renewed before
      </>,
    ]);
  if (execution.window)
    rows.push([
      "Data window",
      <>
        <Time at={execution.window.start} jobZone={execution.timezone} /> to{" "}
        <Time at={execution.window.end} jobZone={execution.timezone} />
      </>,
    ]);
  if (execution.retry_of)
    rows.push([
      "Retry of",
      <Link key="retry" to={`/executions/${execution.retry_of}`}>
        {execution.retry_of}
      </Link>,
    ]);
  if (execution.covered_by)
    rows.push([
      "Covered by",
      <Link key="covered" to={`/executions/${execution.covered_by}`}>
        {execution.covered_by}
      </Link>,
    ]);
  if (execution.cost) rows.push(["Cost", costWords(execution.cost.dollars)]);
  for (const [key, value] of Object.entries(execution.tags ?? {})) rows.push([`Tag ${key}`, value]);
  return (
    <aside class="stack">
      <section class="card">
        <header>
          <h2>Details</h2>
        </header>
        <dl class="details body">
          {rows.map(([term, value]) => (
            <>
              <dt key={term}>{term}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      </section>
      <Upstreams execution={execution} />
      <PastWaits execution={execution} />
      <Dependants execution={execution} />
    </aside>
  );
}

function costWords(dollars: number): string {
  return dollars === 0 ? "None yet" : `about $${dollars.toFixed(dollars < 0.01 ? 6 : 2)}`;
}

/** The zone of the job and UTC, unless they are the viewer's. */
function otherZones(timezone: string): string[] {
  return [...new Set([timezone, "UTC"])].filter((name) => name !== zone.value);
}

function Upstreams({ execution }: { execution: Execution }) {
  if (!execution.upstreams?.length) return null;
  return (
    <section class="card">
      <header>
        <h2>Waits for</h2>
      </header>
      <ul class="body stack-small">
        {execution.upstreams.map((one) => (
          <li key={one.job_id}>
            <Link to={one.execution_id ? `/executions/${one.execution_id}` : `/jobs/${one.job_id}`}>
              {one.job_name ?? one.job_id}
            </Link>{" "}
            {one.status ? <ExecutionStatus status={one.status} /> : <span class="dim">not planned yet</span>}
            <span class="note"> until it has {one.condition === "finished" ? "ended" : one.condition}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What it has waited for, and how long. */
function PastWaits({ execution }: { execution: Execution }) {
  const waits = pastWaits(execution);
  if (waits.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>Waited for</h2>
      </header>
      <ul class="body stack-small">
        {waits.map(({ reason, seconds }) => (
          <li key={reason} class="between">
            <span>{reason}</span>
            <span class="dim">{duration(seconds)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Dependants({ execution }: { execution: Execution }) {
  if (!execution.dependants?.length) return null;
  return (
    <section class="card">
      <header>
        <h2>Waits for this</h2>
      </header>
      <ul class="body stack-small">
        {execution.dependants.map((one) => (
          <li key={one.execution_id}>
            <Link to={`/executions/${one.execution_id}`}>{one.job_name ?? one.job_id}</Link>{" "}
            <ExecutionStatus status={one.status} />
          </li>
        ))}
      </ul>
    </section>
  );
}
