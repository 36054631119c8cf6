/** Jobs, with filters in the address, and actions on a selection. */

import { useState } from "preact/hooks";
import type { Job } from "../../api/types";
import { Filters } from "../../components/filters";
import { Link } from "../../components/link";
import { Sparkline } from "../../components/sparkline";
import { Empty, Loaded } from "../../components/states";
import { ExecutionStatus, JobState } from "../../components/status";
import { type Column, Table } from "../../components/table";
import { Relative, Time } from "../../components/time";
import { duration } from "../../format/duration";
import { scheduleWords } from "../../format/schedule";
import { place } from "../../router";
import { useList, withParameters } from "../../state/list";
import { mayOperate } from "../../state/me";
import { useTitle } from "../../state/title";
import { BulkBar } from "./bulk";

const FILTERS = [
  { name: "state", title: "State", options: ["active", "paused", "done", "cancelled", "deleted"] },
  { name: "owner", title: "Team" },
  { name: "task", title: "Task" },
  { name: "tag", title: "Tag (key:value)" },
  { name: "priority", title: "Priority", options: ["high", "normal", "low"] },
] as const;

export function JobsView() {
  useTitle("Jobs");
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const { query } = place.value;
  const parameters = Object.fromEntries(
    ["name", ...FILTERS.map((one) => one.name)].map((name) => [name, query.get(name)]),
  );
  const list = useList<Job>(withParameters("/jobs", { ...parameters, limit: "50" }), idOf);
  return (
    <>
      <h1 class="visually-hidden">Jobs</h1>
      <Filters filters={[...FILTERS]} search={{ name: "name", placeholder: "Search names" }} />
      <Loaded what="Jobs" of={list}>
        {() =>
          list.items.length === 0 && !list.hasMore ? (
            <NoJobs isFiltered={query.size > 0} />
          ) : (
            <Table
              label="Jobs"
              list={list}
              columns={COLUMNS}
              idOf={idOf}
              nameOf={nameOf}
              to={(job) => `/jobs/${job.job_id}`}
              selection={mayOperate.value ? { ids: selected, set: select } : undefined}
            />
          )
        }
      </Loaded>
      {selected.size > 0 && <BulkBar ids={selected} clear={() => select(new Set())} reload={list.reload} />}
    </>
  );
}

function NoJobs({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No job matches these filters">
        <Link to="/jobs" class="button">
          Clear the filters
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="No jobs yet">
      <p>A job runs a task on a schedule.</p>
      {mayOperate.value && (
        <Link to="/jobs/new" class="button is-main">
          New job
        </Link>
      )}
    </Empty>
  );
}

export function nameOf(job: Job): string {
  return job.name || job.task;
}

function idOf(job: Job): string {
  return job.job_id;
}

const COLUMNS: Column<Job>[] = [
  {
    title: "Job",
    cell: (job) => (
      <>
        {nameOf(job)}
        <span class="note">
          {job.task}, {scheduleWords(job.schedule)}
        </span>
      </>
    ),
  },
  {
    title: "Last 20 runs",
    class: "narrow-hidden",
    cell: (job) => <Sparkline executions={job.recent_executions ?? []} />,
  },
  {
    title: "Last run",
    cell: (job) =>
      job.last_execution ? (
        <>
          <ExecutionStatus status={job.last_execution.status} />
          <span class="note">
            <Time at={job.last_execution.scheduled_at} />
            {job.last_execution.run_seconds !== null && `, ${duration(job.last_execution.run_seconds)}`}
          </span>
        </>
      ) : (
        <span class="dim narrow-hidden">None yet</span>
      ),
  },
  { title: "State", cell: (job) => <JobState state={job.state} /> },
  {
    title: "Next run",
    cell: (job) =>
      job.next_due_at ? (
        <>
          <Time at={job.next_due_at} jobZone={job.schedule?.timezone as string | undefined} />
          <span class="note">
            <Relative at={job.next_due_at} />
          </span>
        </>
      ) : (
        <span class="dim">{job.schedule?.queue ? "On message" : "None planned"}</span>
      ),
  },
  {
    title: "Median run time",
    class: "number narrow-hidden",
    cell: (job) => (job.median_seconds == null ? "–" : duration(job.median_seconds)),
  },
  { title: "Team", class: "narrow-hidden", cell: (job) => job.owner },
  { title: "Priority", class: "narrow-hidden", cell: (job) => job.priority },
];
