/** One job: its definition, its next instants, its history, and what can be done with it. */

import type { Execution, Job } from "../../api/types";
import { Json } from "../../components/json";
import { Link } from "../../components/link";
import { Empty, Loaded } from "../../components/states";
import { JobState } from "../../components/status";
import { Table } from "../../components/table";
import { selectedTab, Tabs } from "../../components/tabs";
import { Time } from "../../components/time";
import { scheduleWords } from "../../format/schedule";
import { place, withQuery } from "../../router";
import { useList } from "../../state/list";
import { mayManage, mayOperate } from "../../state/me";
import { DETAIL_MS, useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { addressOf, COLUMNS } from "../executions/view";
import { nameOf } from "../jobs/view";
import { JobDialog } from "./dialog";
import { NextInstants } from "./next";

const TABS = [
  { id: "history", title: "History" },
  { id: "definition", title: "Definition" },
];

export function JobView({ id }: { id: string }) {
  const job = useResource<Job>(`/jobs/${id}`, DETAIL_MS * 2);
  useTitle(job.data ? nameOf(job.data) : "Job", { text: "Jobs", to: "/jobs" });
  return (
    <Loaded what="Job" of={job}>
      {(data) => (
        <>
          <Head job={data} />
          <div class="columns">
            <section class="card">
              <Tabs tabs={TABS} label="Job" />
              {selectedTab(TABS) === "history" ? <History jobId={id} /> : <Definition job={data} />}
            </section>
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

function Head({ job }: { job: Job }) {
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
        {mayOperate.value && (
          <Link to={`/jobs/new?from=${job.job_id}`} class="button">
            Clone
          </Link>
        )}
      </div>
    </div>
  );
}

function isLive(job: Job): boolean {
  return job.state === "active" || job.state === "paused";
}

function History({ jobId }: { jobId: string }) {
  const status = place.value.query.get("status");
  const list = useList<Execution>(
    `/jobs/${jobId}/executions?limit=30${status ? `&status=${status}` : ""}`,
    (one) => one.execution_id,
  );
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
              { title: "Due", cell: (one: Execution) => <Time at={one.scheduled_at} /> },
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

function Definition({ job }: { job: Job }) {
  return (
    <div class="body padded">
      <Json value={job} />
    </div>
  );
}

function Rules({ job }: { job: Job }) {
  const rows: [string, preact.ComponentChildren][] = [
    ["Lane", `${job.lane}, priority ${job.priority}`],
    ["Time limit", `${job.timeout_seconds} s an attempt`],
    ["Retries", `${job.retry.max_attempts} attempts`],
    ["Overlap", job.overlap.replaceAll("_", " ")],
    ["Misfire", job.misfire.policy?.replaceAll("_", " ")],
    ["Created", <Time key="created" at={job.created_at} />],
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
                  {String(one.job)} ({String(one.condition)})
                </Link>
              ))}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
