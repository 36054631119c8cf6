/** Live executions with a deadline on one time axis, the most endangered first, with cause and remedy. */

import type { DeadlinePage } from "../../api/types";
import { Filters } from "../../components/filters";
import { Link } from "../../components/link";
import { RemedyDialog } from "../../components/remedies/dialog";
import { Empty, Loaded } from "../../components/states";
import { count } from "../../format/duration";
import { place, withQuery } from "../../router";
import { now } from "../../state/clock";
import { useList, withParameters } from "../../state/list";
import { useTitle } from "../../state/title";
import { AxisHead } from "./axis";
import { DeadlineRow } from "./row";
import { fittingSpan, SPANS, type SpanName } from "./spans";

const FILTERS = [
  { name: "state", title: "State", options: ["missed", "will_miss", "at_risk", "on_track"] },
  { name: "owner", title: "Team" },
  { name: "task", title: "Task" },
  { name: "tag", title: "Tag (key:value)" },
  { name: "from", title: "Deadline from" },
  { name: "to", title: "Deadline before" },
] as const;
const NAMES = ["job_name", ...FILTERS.map((one) => one.name)];
const TITLES: Record<SpanName, string> = { hour: "Hour", day: "Day", week: "Week" };

export function DeadlinesView() {
  useTitle("Deadlines");
  const { query } = place.value;
  const filters = Object.fromEntries(NAMES.map((name) => [name, query.get(name)]));
  const list = useList<DeadlinePage["items"][number]>(
    withParameters("/deadlines", { ...filters, limit: "50" }),
    (one) => one.execution_id,
  );
  const names = new Map(
    list.items.flatMap((one) => [
      [one.execution_id, one.job_name ?? one.task],
      [one.job_id, one.job_name ?? one.task],
    ]),
  );
  const counts = (list.data as DeadlinePage | null)?.counts;
  const deadlines = list.items.flatMap((one) => one.deadline ?? []);
  const wanted = query.get("span") as SpanName | null;
  const span = wanted && wanted in SPANS ? wanted : fittingSpan(deadlines, now.value.getTime());
  const from = now.value.getTime() - SPANS[span] / 12;
  const axis = { from, until: now.value.getTime() + SPANS[span] };
  return (
    <>
      <h1 class="visually-hidden">Deadlines</h1>
      {counts && <p class="verdict-sentence">{inWords(counts)}</p>}
      <Filters filters={[...FILTERS]} search={{ name: "job_name", placeholder: "Search job names" }}>
        <nav class="segments is-links" aria-label="Time shown">
          {(Object.keys(SPANS) as SpanName[]).map((name) => (
            <Link key={name} to={withQuery({ span: name })} aria-current={name === span ? "true" : undefined}>
              {TITLES[name]}
            </Link>
          ))}
        </nav>
      </Filters>
      <Loaded what="Deadlines" of={list}>
        {() =>
          list.items.length === 0 ? (
            <NoDeadlines isFiltered={Object.values(filters).some(Boolean)} />
          ) : (
            <div class="card deadlines">
              <AxisHead axis={axis} />
              <ul>
                {list.items.map((execution) => (
                  <DeadlineRow key={execution.execution_id} execution={execution} axis={axis} />
                ))}
              </ul>
              <Legend />
            </div>
          )
        }
      </Loaded>
      <RemedyDialog names={names} reload={list.reload} />
      {list.hasMore && (
        <p class="more">
          <button type="button" class="button" disabled={list.isLoading} onClick={list.loadMore}>
            Load more
          </button>
        </p>
      )}
    </>
  );
}

/** What the bars show. */
function Legend() {
  return (
    <p class="deadline-legend note">
      <span>
        <svg width="10" height="16" aria-hidden="true">
          <path d="M5 0v16" class="now-line" />
        </svg>
        Now
      </span>
      <span>
        <svg width="40" height="12" aria-hidden="true">
          <rect x="1" y="1" width="24" height="10" rx="2" class="expected" />
          <rect x="25" y="1" width="14" height="10" class="possible" />
          <path d="M25 0v12" class="tick" />
        </svg>
        Forecast: median, then P95
      </span>
      <span>
        <svg width="14" height="16" aria-hidden="true">
          <path d="M3 16V1h8l-2 3 2 3H3" class="deadline-flag" />
        </svg>
        Deadline
      </span>
      <span>
        <svg width="24" height="12" aria-hidden="true">
          <rect width="24" height="12" rx="2" class="late-ground" />
          <path d="M2 12L10 0M9 12L17 0M16 12L24 0" class="late-stripes" />
        </svg>
        After the deadline
      </span>
    </p>
  );
}

function NoDeadlines({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No deadline matches these filters">
        <Link to="/deadlines" class="button">
          Clear the filters
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="No live execution has a deadline">
      <p>Give a job a deadline, and this page says in time whether it may be missed.</p>
      <Link to="/jobs" class="button">
        See the jobs
      </Link>
    </Empty>
  );
}

/** `2 at risk, 46 on track, 11 met today`. */
function inWords({ missed, will_miss, at_risk, on_track, met }: NonNullable<DeadlinePage["counts"]>): string {
  const parts: [number | null, string][] = [
    [missed, "missed"],
    [will_miss, "will miss"],
    [at_risk, "at risk"],
    [on_track, "on track"],
    [met, "met today"],
  ];
  return parts.flatMap(([value, word]) => (value ? [`${count(value)} ${word}`] : [])).join(", ");
}
