/** Executions, latest due instant first, with filters in the address. */

import type { Execution } from "../../api/types";
import { bulkFilter } from "../../components/bulk/actions";
import { BulkBar } from "../../components/bulk/bar";
import { OperationBar } from "../../components/bulk/progress";
import { Filters } from "../../components/filters";
import { Link } from "../../components/link";
import { Empty, Loaded } from "../../components/states";
import { DeadlineStatus, ExecutionStatus } from "../../components/status";
import { type Column, Table } from "../../components/table";
import { Time } from "../../components/time";
import { Matches } from "../../components/views/matches";
import { SavedViews } from "../../components/views/saved-views";
import { duration } from "../../format/duration";
import { withoutIds } from "../../format/ids";
import { sentence } from "../../format/text";
import { place } from "../../router";
import { now } from "../../state/clock";
import { useList, useTotal, withParameters } from "../../state/list";
import { mayManage, mayOperate } from "../../state/me";
import { useSelection } from "../../state/selection";
import { useTitle } from "../../state/title";

const STATUSES = [
  "running",
  "queued",
  "waiting",
  "starting",
  "retrying",
  "scheduled",
  "succeeded",
  "failed",
  "timed_out",
  "cancelled",
  "skipped",
  "missed",
] as const;
const FILTERS = [
  { name: "status", title: "Status", options: STATUSES },
  { name: "deadline", title: "Deadline", options: ["on_track", "at_risk", "will_miss", "met", "missed"] },
  { name: "owner", title: "Team" },
  { name: "task", title: "Task" },
  { name: "tag", title: "Tag (key:value)" },
  { name: "origin", title: "Origin", options: ["schedule", "run", "retry", "backfill"] },
  { name: "job_id", title: "Job id" },
  { name: "worker_id", title: "Worker" },
  { name: "from", title: "Due from" },
  { name: "to", title: "Due before" },
];

const NAMES = ["job_name", ...FILTERS.map((one) => one.name)];
const STANDARD = [
  { name: "All executions", query: "" },
  { name: "Running", query: "status=running" },
  { name: "Waiting", query: "status=queued,waiting,retrying" },
  { name: "Failed", query: "status=failed,timed_out,missed" },
  { name: "Deadline in danger", query: "deadline=at_risk,will_miss" },
];

export function ExecutionsView() {
  useTitle("Executions");
  const selection = useSelection();
  const { query } = place.value;
  const parameters = Object.fromEntries(NAMES.map((name) => [name, query.get(name)]));
  const list = useList<Execution>(withParameters("/executions", { ...parameters, limit: "50" }), idOf);
  const total = useTotal(withParameters("/executions", { ...parameters, limit: "1", total: "true" }));
  const filter = bulkFilter(query, NAMES);
  return (
    <>
      <h1 class="visually-hidden">Executions</h1>
      <SavedViews list="/executions" standard={STANDARD} />
      <Filters filters={FILTERS} search={{ name: "job_name", placeholder: "Search job names" }}>
        <Matches total={total} />
      </Filters>
      <OperationBar onEnd={list.reload} />
      <Loaded what="Executions" of={list}>
        {() =>
          list.items.length === 0 && !list.hasMore ? (
            <NoExecutions isFiltered={query.size > 0} />
          ) : (
            <Table
              label="Executions"
              list={list}
              columns={COLUMNS}
              idOf={idOf}
              nameOf={nameOf}
              to={addressOf}
              selection={mayOperate.value ? selection : undefined}
              isSelectable={(one) => mayManage(one.owner)}
            />
          )
        }
      </Loaded>
      <BulkBar
        kind="executions"
        selection={selection}
        filter={Object.keys(filter).length > 0 ? filter : null}
        total={total?.value ?? null}
      />
    </>
  );
}

function NoExecutions({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Empty title={isFiltered ? "No execution matches these filters" : "No executions yet"}>
      {isFiltered ? (
        <Link to="/executions" class="button">
          Clear the filters
        </Link>
      ) : (
        <p>Each run of a job is an execution. Run a job, or wait for its schedule.</p>
      )}
    </Empty>
  );
}

function nameOf(execution: Execution): string {
  return `${execution.job_name ?? execution.task}, due ${execution.scheduled_at}`;
}

export function addressOf(execution: Execution): string {
  return `/executions/${execution.execution_id}`;
}

function idOf(execution: Execution): string {
  return execution.execution_id;
}

export const COLUMNS: Column<Execution>[] = [
  { title: "Job", cell: (one) => one.job_name ?? one.task },
  {
    title: "Status",
    cell: (one) => (
      <ExecutionStatus
        status={one.status}
        detail={one.status === "running" && one.progress ? `${Math.round(one.progress.percent)}%` : undefined}
      />
    ),
  },
  { title: "Due", cell: (one) => <Time at={one.scheduled_at} jobZone={one.timezone} /> },
  { title: "Start delay", class: "number narrow-hidden until-medium", cell: startDelay },
  { title: "Run time", class: "number", cell: runTime },
  {
    title: "Deadline",
    cell: (one) =>
      one.deadline ? (
        <DeadlineStatus isOwnColumn state={one.deadline.state} probability={one.deadline.probability} />
      ) : (
        <span class="dim">None</span>
      ),
  },
  {
    title: "Reason",
    class: "until-wide",
    cell: reason,
  },
];

function startDelay(execution: Execution) {
  if (!execution.started_at) return "–";
  return duration(Math.max(0, (Date.parse(execution.started_at) - Date.parse(execution.scheduled_at)) / 1000));
}

function runTime(execution: Execution) {
  if (!execution.started_at) return "–";
  const end = execution.ended_at ? Date.parse(execution.ended_at) : now.value.getTime();
  return duration(Math.max(0, (end - Date.parse(execution.started_at)) / 1000));
}

function reason({ reason: given, error }: Execution) {
  const text = given ?? error?.message;
  return text ? <span class="reason">{sentence(withoutIds(text))}</span> : null;
}
