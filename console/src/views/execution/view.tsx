/** One execution: verdict, timeline, log, result, attempts, and what can be done with it. */

import type { Execution } from "../../api/types";
import { Icon } from "../../components/icon";
import { copy, Json } from "../../components/json";
import { Link } from "../../components/link";
import { Loaded } from "../../components/states";
import { ExecutionStatus } from "../../components/status";
import { selectedTab, type Tab, Tabs } from "../../components/tabs";
import { Time } from "../../components/time";
import { duration } from "../../format/duration";
import { withoutIds } from "../../format/ids";
import { cityOf, clock, when, zone } from "../../format/time";
import { withQuery } from "../../router";
import { mayManage } from "../../state/me";
import { DETAIL_MS, useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { Attempts, attemptsOf } from "./attempts";
import { Details } from "./details";
import { ExecutionDialog } from "./dialog";
import { Events } from "./events";
import { FINAL, MOST_ROWS } from "./final";
import { Log } from "./log";
import { Parts } from "./parts";
import { Result } from "./result";
import { Timeline } from "./timeline/timeline";
import { Verdict } from "./verdict";

export function ExecutionView({ id }: { id: string }) {
  const execution = useResource<Execution>(`/executions/${id}`, DETAIL_MS);
  const name = execution.data ? nameOf(execution.data) : "Execution";
  useTitle(
    execution.data ? when(new Date(execution.data.scheduled_at)) : "Execution",
    { text: "Executions", to: "/executions" },
    ...(execution.data ? [{ text: name, to: `/jobs/${execution.data.job_id}` }] : []),
  );
  return (
    <Loaded what="Execution" of={execution}>
      {(data) => (
        <>
          <Head execution={data} />
          <div class="stack">
            <Verdict execution={data} />
            <Timeline execution={data} />
            {data.parts && data.parts.length > MOST_ROWS && <Parts parts={data.parts} timezone={data.timezone} />}
            <div class="columns">
              <Content execution={data} />
              <Details execution={data} />
            </div>
          </div>
          <ExecutionDialog execution={data} reload={execution.reload} />
        </>
      )}
    </Loaded>
  );
}

export function nameOf(execution: Execution): string {
  return execution.job_name ?? execution.task;
}

function Head({ execution }: { execution: Execution }) {
  const isFinal = FINAL.has(execution.status);
  const percent = execution.progress && !isFinal ? `${Math.round(execution.progress.percent)}%` : undefined;
  return (
    <div class="head">
      <div>
        <h1>
          {nameOf(execution)}{" "}
          <span class="dim">
            <Time at={execution.scheduled_at} jobZone={execution.timezone} />
            {isElsewhere(execution.timezone) && ` · ${inZone(execution)}`}
          </span>
        </h1>
        <p class="facts">
          <ExecutionStatus status={execution.status} detail={percent} />
          {partsInWords(execution) && <span>{partsInWords(execution)}</span>}
          {execution.started_at && (
            <span>
              started <Time at={execution.started_at} jobZone={execution.timezone} />, {startDelay(execution)} after due
            </span>
          )}
          {execution.ended_at && (
            <span>
              ended <Time at={execution.ended_at} jobZone={execution.timezone} />
            </span>
          )}
          {execution.reason && !execution.waiting_for && <span>{withoutIds(execution.reason)}</span>}
        </p>
        <button type="button" class="button is-plain id" onClick={() => copy(execution.execution_id, "Id")}>
          <span class="mono">{execution.execution_id}</span> <Icon name="copy" label="Copy the id" />
        </button>
      </div>
      {mayManage(execution.owner) && (
        <div class="actions">
          {isFinal && (
            <Link to={withQuery({ do: "again" })} class="button">
              Run again with changes…
            </Link>
          )}
          {isFinal && (
            <Link to={withQuery({ do: "retry" })} class="button">
              {execution.status === "succeeded" ? "Run again…" : "Retry…"}
            </Link>
          )}
          {!isFinal && (
            <Link to={withQuery({ do: "cancel" })} class="button is-danger">
              Cancel…
            </Link>
          )}
        </div>
      )}
    </div>
  );
}

/** Whether the job's wall clock differs from the viewer's. */
function isElsewhere(timezone: string): boolean {
  return timezone !== "UTC" && timezone !== zone.value;
}

function inZone({ scheduled_at: at, timezone }: Execution): string {
  return `${clock(new Date(at), timezone)} ${cityOf(timezone)}`;
}

/** `4 of 7 parts done, 2 run, 1 waits`. */
function partsInWords({ parts, status }: Execution): string {
  const all = (parts ?? []).filter((one) => one.part !== "all");
  if (all.length === 0 || FINAL.has(status)) return "";
  const number = (...statuses: string[]) => all.filter((one) => statuses.includes(one.status)).length;
  const [run, wait] = [number("running", "starting"), number("waiting", "queued", "retrying")];
  const rest = [run && `${run} ${run === 1 ? "runs" : "run"}`, wait && `${wait} ${wait === 1 ? "waits" : "wait"}`];
  return [`${number("succeeded")} of ${all.length} parts done`, ...rest].filter(Boolean).join(", ");
}

function startDelay(execution: Execution): string {
  return duration(Math.max(0, (Date.parse(execution.started_at ?? "") - Date.parse(execution.scheduled_at)) / 1000));
}

function Content({ execution }: { execution: Execution }) {
  const tabs: Tab[] = [
    { id: "log", title: "Log" },
    { id: "result", title: "Result" },
    { id: "attempts", title: "Attempts", count: attemptsOf(execution).length },
    { id: "events", title: "Events" },
    { id: "parameters", title: "Parameters" },
    { id: "json", title: "JSON" },
  ];
  const selected = selectedTab(tabs);
  return (
    <section class="card">
      <Tabs tabs={tabs} label="Execution" />
      {selected === "log" && <Log execution={execution} />}
      {selected === "result" && <Result execution={execution} />}
      {selected === "attempts" && <Attempts execution={execution} />}
      {selected === "events" && <Events execution={execution} />}
      {selected === "parameters" && (
        <div class="body padded">
          <Json value={execution.parameters} label="Parameters" />
        </div>
      )}
      {selected === "json" && (
        <div class="body padded">
          <Json value={execution} />
        </div>
      )}
    </section>
  );
}
