/** One execution: verdict, timeline, log, result, attempts, and what can be done with it. */

import type { Execution } from "../../api/types";
import { DeadlineBar } from "../../components/deadline-bar";
import { Icon } from "../../components/icon";
import { copy, Json } from "../../components/json";
import { Link } from "../../components/link";
import { Loaded } from "../../components/states";
import { DeadlineStatus, ExecutionStatus } from "../../components/status";
import { selectedTab, type Tab, Tabs } from "../../components/tabs";
import { Time } from "../../components/time";
import { coarse, duration } from "../../format/duration";
import { when } from "../../format/time";
import { withQuery } from "../../router";
import { now } from "../../state/clock";
import { mayManage } from "../../state/me";
import { DETAIL_MS, useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { Attempts } from "./attempts";
import { Details } from "./details";
import { ExecutionDialog } from "./dialog";
import { Events } from "./events";
import { Log } from "./log";
import { MOST_ROWS, Parts } from "./parts";
import { Result } from "./result";
import { Timeline } from "./timeline";

export const FINAL = new Set(["succeeded", "failed", "timed_out", "cancelled", "skipped", "missed"]);

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
            {data.started_at && <Timeline execution={data} />}
            {data.parts && data.parts.length > MOST_ROWS && <Parts parts={data.parts} />}
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
          {nameOf(execution)} <span class="dim">{when(new Date(execution.scheduled_at))}</span>
        </h1>
        <p class="facts">
          <ExecutionStatus status={execution.status} detail={percent} />
          {execution.started_at && (
            <span>
              started <Time at={execution.started_at} />, {startDelay(execution)} after due
            </span>
          )}
          {execution.ended_at && (
            <span>
              ended <Time at={execution.ended_at} />
            </span>
          )}
          {execution.reason && <span>{execution.reason}</span>}
          <button type="button" class="button is-plain id" onClick={() => copy(execution.execution_id, "Id")}>
            <span class="mono">{execution.execution_id}</span> <Icon name="copy" label="Copy the id" />
          </button>
        </p>
      </div>
      {mayManage(execution.owner) && (
        <div class="actions">
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

function startDelay(execution: Execution): string {
  return duration(Math.max(0, (Date.parse(execution.started_at ?? "") - Date.parse(execution.scheduled_at)) / 1000));
}

/** What a reader wants to know first: is it in danger, why does it wait, or how did it end. */
function Verdict({ execution }: { execution: Execution }) {
  const { deadline, waiting_for: waiting, error } = execution;
  const isLive = !FINAL.has(execution.status);
  if (!(isLive && (deadline || waiting || execution.progress)) && !error) return null;
  return (
    <section class="card verdict" aria-label="Verdict">
      <div>
        {waiting && (
          <p class="strong">
            <span class="mark hue-wait">
              <Icon name="waiting" />
              <span>{sentence(waiting.detail)}</span>
            </span>
            <span class="dim">
              {waiting.ahead != null && ` ${waiting.ahead} ahead`}
              {waiting.until && (
                <>
                  {" "}
                  until about <Time at={waiting.until} />
                </>
              )}
            </span>
          </p>
        )}
        {isLive && deadline && (
          <>
            <p class="chips">
              <DeadlineStatus state={deadline.state} probability={deadline.probability} />
              {deadline.probability !== null && deadline.probability !== undefined && (
                <span>
                  <b>{Math.round(deadline.probability * 100)}% likely</b> to end by <Time at={deadline.at} />, in{" "}
                  {coarse(Math.max(0, (Date.parse(deadline.at) - now.value.getTime()) / 1000))}
                </span>
              )}
            </p>
            <DeadlineBar deadline={deadline} startedAt={execution.started_at} />
          </>
        )}
        {isLive && execution.progress && <Progress execution={execution} />}
        {error && (
          <div class="failure">
            <p class="strong hue-bad">{error.type}</p>
            <p>{error.message}</p>
          </div>
        )}
      </div>
      {isLive && (deadline?.cause || deadline?.remedy) && (
        <dl class="advice">
          <dt>Cause</dt>
          <dd>{deadline.cause ?? "Unknown"}</dd>
          <dt>What helps</dt>
          <dd>{deadline.remedy ?? "Unknown"}</dd>
        </dl>
      )}
      {isLive && waiting && <Before title="Waits for" ids={waiting.executions} />}
      {isLive && waiting && <Before title="Ahead" ids={waiting.executions_ahead} />}
    </section>
  );
}

const MOST_NAMED = 5;

function Before({ title, ids }: { title: string; ids: string[] }) {
  if (ids.length === 0) return null;
  return (
    <div class="advice">
      <p class="note">{title}</p>
      <ul>
        {ids.slice(0, MOST_NAMED).map((id) => (
          <li key={id}>
            <Link to={`/executions/${id}`}>{id}</Link>
          </li>
        ))}
      </ul>
    </div>
  );
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
        {progress.message}
        {usual != null && ` usually ${Math.round(usual)}% by now`}
      </span>
    </p>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Content({ execution }: { execution: Execution }) {
  const tabs: Tab[] = [
    { id: "log", title: "Log" },
    { id: "result", title: "Result" },
    { id: "attempts", title: "Attempts", count: execution.attempts.length },
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
