/** Jobs, with filters in the address, and actions on a selection. */

import type { Job } from "../../api/types";
import { bulkFilter } from "../../components/bulk/actions";
import { BulkBar } from "../../components/bulk/bar";
import { OperationBar } from "../../components/bulk/progress";
import { Filters } from "../../components/filters";
import { Link } from "../../components/link";
import { Sparkline } from "../../components/sparkline";
import { Empty, Loaded } from "../../components/states";
import { DeadlineStatus, ExecutionStatus, JobState } from "../../components/status";
import { type Column, Table } from "../../components/table";
import { JobClock, Relative, Time } from "../../components/time";
import { Matches } from "../../components/views/matches";
import { SavedViews } from "../../components/views/saved-views";
import { Sort } from "../../components/views/sort";
import { count, duration } from "../../format/duration";
import { scheduleWords } from "../../format/schedule";
import { place } from "../../router";
import { useList, useTotal, withParameters } from "../../state/list";
import { mayManage, mayOperate, maySubmit } from "../../state/me";
import { useSelection } from "../../state/selection";
import { useTitle } from "../../state/title";
import { isLoadedOrder, sorted } from "./order";

const FILTERS = [
  { name: "state", title: "State", options: ["active", "paused", "done", "cancelled", "deleted"] },
  { name: "owner", title: "Team" },
  { name: "task", title: "Task" },
  { name: "tag", title: "Tag (key:value)" },
  { name: "priority", title: "Priority", options: ["high", "normal", "low"] },
] as const;

const NAMES = ["name", ...FILTERS.map((one) => one.name)];
const STANDARD = [
  { name: "All jobs", query: "" },
  { name: "Active", query: "state=active" },
  { name: "Paused", query: "state=paused" },
  { name: "High priority", query: "priority=high" },
];
/** Of these, the API sorts all jobs; the others sort the jobs that are loaded. */
const SERVED = { newest: "Newest first", oldest: "Oldest first", name: "Name" };
const ORDERS = { ...SERVED, next: "Next run", last: "Last run", duration: "Run time" };

export function JobsView() {
  useTitle("Jobs");
  const selection = useSelection();
  const { query } = place.value;
  const sort = query.get("sort") ?? "";
  const parameters = {
    ...Object.fromEntries(NAMES.map((name) => [name, query.get(name)])),
    sort: isLoadedOrder(sort) ? null : sort,
  };
  const loaded = useList<Job>(withParameters("/jobs", { ...parameters, limit: "50" }), idOf);
  const list = { ...loaded, items: isLoadedOrder(sort) ? sorted(loaded.items, sort) : loaded.items };
  const total = useTotal(withParameters("/jobs", { ...parameters, limit: "1", total: "true" }));
  const filter = bulkFilter(query, NAMES);
  return (
    <>
      <h1 class="visually-hidden">Jobs</h1>
      <SavedViews list="/jobs" standard={STANDARD} />
      <Filters filters={[...FILTERS]} search={{ name: "name", placeholder: "Search names" }}>
        <Matches total={total} />
        <Sort orders={ORDERS} />
      </Filters>
      <OperationBar onEnd={list.reload} />
      <Loaded what="Jobs" of={list}>
        {() =>
          list.items.length === 0 && !list.hasMore ? (
            <NoJobs isFiltered={query.size > 0} />
          ) : (
            <>
              {isLoadedOrder(sort) && list.hasMore && (
                <p class="note sorted-note">
                  The {count(list.items.length)} loaded jobs are sorted. Filter, or load more, to sort the others with
                  them.
                </p>
              )}
              <Table
                label="Jobs"
                list={list}
                columns={COLUMNS}
                idOf={idOf}
                nameOf={nameOf}
                to={(job) => `/jobs/${job.job_id}`}
                selection={mayOperate.value ? selection : undefined}
                isSelectable={(job) => mayManage(job.owner)}
              />
            </>
          )
        }
      </Loaded>
      <BulkBar
        kind="jobs"
        selection={selection}
        filter={Object.keys(filter).length > 0 ? filter : null}
        total={total?.value ?? null}
      />
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
      {maySubmit.value && (
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
            <Time at={job.last_execution.scheduled_at} jobZone={zoneOf(job)} />
            {job.last_execution.run_seconds !== null && `, ${duration(job.last_execution.run_seconds)}`}
          </span>
        </>
      ) : (
        <span class="dim">None yet</span>
      ),
  },
  { title: "Next run", cell: nextRun },
  {
    title: "Median run time",
    class: "number narrow-hidden until-medium",
    cell: (job) =>
      job.median_seconds == null ? (
        <span class="dim">Unknown</span>
      ) : (
        <>
          {duration(job.median_seconds)}
          <span class="note">P95 {duration(job.p95_seconds ?? job.median_seconds)}</span>
        </>
      ),
  },
  {
    title: "Deadline",
    cell: (job) =>
      job.deadline_state ? <DeadlineStatus isOwnColumn state={job.deadline_state} /> : <span class="dim">None</span>,
  },
  { title: "Team", class: "narrow-hidden until-wide", cell: (job) => <span class="nowrap">{job.owner}</span> },
  { title: "Priority", class: "narrow-hidden until-wide", cell: (job) => job.priority },
];

export function zoneOf(job: Job): string | undefined {
  return job.schedule?.timezone as string | undefined;
}

function nextRun(job: Job) {
  if (job.state !== "active") return <JobState state={job.state} />;
  if (!job.next_due_at) {
    return job.schedule?.queue ? <span class="dim">On message</span> : <span class="dim">None planned</span>;
  }
  return (
    <>
      <Time at={job.next_due_at} jobZone={zoneOf(job)} />
      <span class="note">
        <Relative at={job.next_due_at} jobZone={zoneOf(job)} />
        <JobClock at={job.next_due_at} jobZone={zoneOf(job)} />
      </span>
    </>
  );
}
