/** One job: its definition, its next instants, its history, and what can be done with it. */

import { remembered } from "../../api/client";
import type { Execution, JobDetail, Page } from "../../api/types";
import { Json } from "../../components/json";
import { Link } from "../../components/link";
import { Empty, Loaded } from "../../components/states";
import { JobState, words } from "../../components/status";
import { Table } from "../../components/table";
import { selectedTab, Tabs } from "../../components/tabs";
import { Time } from "../../components/time";
import { duration, plural } from "../../format/duration";
import { deadlineWords, scheduleWords } from "../../format/schedule";
import { capitalised } from "../../format/text";
import { place, withQuery } from "../../router";
import { type List, useList } from "../../state/list";
import { mayManage, maySubmit } from "../../state/me";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { addressOf, COLUMNS } from "../executions/view";
import { nameOf, zoneOf } from "../jobs/view";
import { JobDialog } from "./dialog";
import { Graph } from "./graph";
import { HeatMap } from "./heat-map";
import { NextInstants } from "./next";
import { Revisions } from "./revisions";
import { RunTimes } from "./run-times";
import { recentRunsOf, runsOf } from "./runs";

const TABS = [
  { id: "history", title: "History" },
  { id: "definition", title: "Definition" },
  { id: "revisions", title: "Revisions" },
  { id: "graph", title: "Graph" },
];
/** Statistics of a year are read less often than what is live. */
const JOB_MS = 10_000;

export function JobView({ id }: { id: string }) {
  const job = useResource<JobDetail>(`/jobs/${id}?include=statistics,next,graph`, JOB_MS);
  const status = place.value.query.get("status");
  const historyPath = `/jobs/${id}/executions?limit=50${status ? `&status=${status}` : ""}`;
  // a view sends two requests: the revisions take the place of the history
  const isHistoryRead = selectedTab(TABS) !== "revisions";
  const history = useList<Execution>(isHistoryRead ? historyPath : null, (one) => one.execution_id);
  const executions = history.data?.items ?? remembered<Page<Execution>>(historyPath)?.data.items;
  useTitle(job.data ? nameOf(job.data) : "Job", { text: "Jobs", to: "/jobs" });
  return (
    <Loaded what="Job" of={job}>
      {(data) => (
        <>
          <Head job={data} />
          <div class="columns">
            <div class="stack">
              <RunTimes
                job={data}
                runs={executions ? runsOf(executions) : recentRunsOf(data.recent_executions ?? [])}
              />
              {data.statistics && <HeatMap job={data} statistics={data.statistics} />}
              <section class="card">
                <Tabs tabs={TABS} label="Job" />
                <Tab job={data} history={history} />
              </section>
            </div>
            <aside class="stack">
              <NextInstants job={data} />
              <Rules job={data} />
            </aside>
          </div>
          <JobDialog job={data} reload={job.reload} />
        </>
      )}
    </Loaded>
  );
}

function Head({ job }: { job: JobDetail }) {
  return (
    <div class="head">
      <div>
        <h1>{nameOf(job)}</h1>
        <p class="facts">
          <JobState state={job.state} />
          <span>{job.task}</span>
          <span>{scheduleWords(job.schedule)}</span>
          <span>{job.owner}</span>
          <span>revision {job.revision}</span>
        </p>
      </div>
      <div class="actions">
        {mayManage(job.owner) && isLive(job) && (
          <>
            <Link to={withQuery({ do: "run" })} class="button">
              Run now…
            </Link>
            <Link to={withQuery({ do: job.state === "paused" ? "resume" : "pause" })} class="button">
              {job.state === "paused" ? "Resume…" : "Pause…"}
            </Link>
            <Link to={`/jobs/${job.job_id}/edit`} class="button">
              Edit
            </Link>
            <Link to={withQuery({ do: "cancel" })} class="button is-danger">
              Cancel…
            </Link>
          </>
        )}
        {maySubmit.value && (
          <Link to={`/jobs/new?from=${job.job_id}`} class="button">
            Clone
          </Link>
        )}
      </div>
    </div>
  );
}

function isLive(job: JobDetail): boolean {
  return job.state === "active" || job.state === "paused";
}

function Tab({ job, history }: { job: JobDetail; history: List<Execution> }) {
  const selected = selectedTab(TABS);
  if (selected === "definition") return <Definition job={job} />;
  if (selected === "revisions") return <Revisions job={job} />;
  if (selected === "graph") return job.graph ? <Graph job={job} graph={job.graph} /> : null;
  return <History job={job} list={history} />;
}

function History({ job, list }: { job: JobDetail; list: List<Execution> }) {
  return (
    <Loaded what="History" of={list}>
      {() =>
        list.items.length === 0 ? (
          <Empty title="It has not run yet" />
        ) : (
          <Table
            label="Executions of this job"
            list={list}
            columns={[
              { title: "Due", cell: (one: Execution) => <Time at={one.scheduled_at} jobZone={zoneOf(job)} /> },
              ...COLUMNS.filter((one) => one.title !== "Job" && one.title !== "Due"),
            ]}
            idOf={(one) => one.execution_id}
            to={addressOf}
          />
        )
      }
    </Loaded>
  );
}

function nameIn({ graph }: JobDetail, id: string): string {
  return graph?.upstreams.find((one) => one.job_id === id)?.job_name ?? id;
}

function Definition({ job }: { job: JobDetail }) {
  return (
    <div class="body padded">
      <Json value={definitionOf(job)} />
    </div>
  );
}

/** The job without the details that only this page asks for. */
function definitionOf({ statistics: _, next: __, graph: ___, ...job }: JobDetail): object {
  return job;
}

function Rules({ job }: { job: JobDetail }) {
  const rows: [string, preact.ComponentChildren][] = [
    ["Deadline", job.deadline ? capitalised(deadlineWords(job.deadline)) : "None"],
    ["Lane", `${words(job.lane)}, priority ${job.priority}`],
    ["Time limit", `${duration(job.timeout_seconds)} per attempt`],
    ["Retry", `Up to ${plural(job.retry.max_attempts ?? 1, "attempt")}`],
    ["Overlap", words(job.overlap)],
    ["Misfire", job.misfire.policy ? words(job.misfire.policy) : "None"],
    ["Created", <Time key="created" at={job.created_at} jobZone={zoneOf(job)} />],
    ["By", job.created_by],
  ];
  return (
    <section class="card">
      <header>
        <h2>Rules</h2>
      </header>
      <dl class="details body">
        {rows.map(([term, value]) => (
          <>
            <dt key={term}>{term}</dt>
            <dd>{value}</dd>
          </>
        ))}
        {job.depends_on.length > 0 && (
          <>
            <dt>Waits for</dt>
            <dd>
              {job.depends_on.map((one) => (
                <Link key={String(one.job)} to={`/jobs/${one.job}`}>
                  {nameIn(job, String(one.job))} ({words(String(one.condition)).toLowerCase()})
                </Link>
              ))}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
