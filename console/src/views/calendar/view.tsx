/** What ran and how it ended, and what will run with its forecast end: a day, a week or a month. */

import { computed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Calendar, CalendarJob } from "../../api/types";
import { type Filter, Filters } from "../../components/filters";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { Empty, Loaded } from "../../components/states";
import { words } from "../../components/status";
import { dayOf } from "../../format/days";
import { plural } from "../../format/duration";
import { zone } from "../../format/time";
import { navigate, place, setQuery, withQuery } from "../../router";
import type { KeysOf } from "../../shell/key-table";
import { now } from "../../state/clock";
import { useList, withParameters } from "../../state/list";
import { isNarrow } from "../../state/narrow";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { useViewKeys } from "../../state/view-keys";
import { Agenda } from "./agenda";
import { BackfillDay, backfillOf } from "./backfill-day";
import { brokenOn } from "./broken";
import { Grid } from "./grid";
import { Month } from "./month";
import { boundsOf, type Range, rangeOf, SPANS, type Span, sixWeeksAround } from "./range";
import { asOf, isBad, isInDanger, runsOf, within } from "./runs";
import { Strip } from "./strip";

const SHOW = ["with_a_deadline", "failed_or_at_risk", "long_lane"];
const FILTERS: Filter[] = [
  { name: "show", title: "Show", options: SHOW },
  { name: "owner", title: "Team" },
  { name: "task", title: "Task" },
  { name: "tag", title: "Tag (key:value)" },
  { name: "state", title: "State", options: ["active", "paused", "done", "cancelled"] },
  { name: "priority", title: "Priority", options: ["high", "normal", "low"] },
];
const OF_API = ["name", "owner", "task", "tag", "state", "priority"];
const REFRESH_MS = 20_000;
const STRIP_REFRESH_MS = 300_000;
const MOST_JOBS = "50";
const HALF_MINUTE = 30_000;
/** An execution of the long lane takes up to seven days, so it may have been due that long before the range. */
const LOOK_BACK_MS = 7 * 86_400_000;

/** Ticks twice a minute: often enough for the line that shows the current time. */
const current = computed(() => Math.floor(now.value.getTime() / HALF_MINUTE) * HALF_MINUTE);

export function CalendarView() {
  useTitle("Calendar");
  const { query } = place.value;
  const span = query.get("span");
  const shownSpan = isNarrow.value && span !== "month" ? "day" : span;
  const today = dayOf(current.value, zone.value);
  const range = useMemo(
    () => rangeOf(shownSpan, query.get("at"), today, zone.value),
    [shownSpan, query.get("at"), today, zone.value],
  );
  const filters = Object.fromEntries(OF_API.map((name) => [name, query.get(name)]));
  const list = useList<CalendarJob, Calendar>(
    range.span === "month"
      ? pathOf(range, { ...filters, long_lane: "true" })
      : pathOf({ from: range.from - LOOK_BACK_MS, to: range.to }, { ...filters, long_lane: "true" }),
    (job) => job.job_id,
    REFRESH_MS,
  );
  const six = sixWeeksAround(range.at);
  const strip = useResource<Calendar>(
    range.span === "month" ? null : pathOf(boundsOf(six, zone.value), filters),
    STRIP_REFRESH_MS,
  );
  const show = query.get("show");
  const jobs = useMemo(
    () =>
      list.items
        .map((job) => asOf(within(job, range.from, range.to), current.value))
        .filter((job) => job.entries.length && isShown(job, show)),
    [list.data, list.items.length, range, show, current.value],
  );
  useViewKeys(keysOf(range));
  return (
    <div class="calendar">
      <h1 class="visually-hidden">Calendar, {range.title}</h1>
      <Toolbar range={range}>
        <Filters
          filters={FILTERS}
          search={{ name: "name", placeholder: "Search jobs" }}
          others={["at", "span", "day"]}
        />
        <span class="note aside">{list.data && plural(jobs.length, "job")}</span>
        {range.span === "day" && brokenOn(jobs, range.from, Math.min(range.to, current.value)).length > 0 && (
          <Link to={backfillOf(range.at)} class="button calendar-backfill">
            Backfill day…
          </Link>
        )}
      </Toolbar>
      {range.span !== "month" && (
        <Strip
          days={six}
          range={range}
          today={today}
          jobs={strip.data?.items ?? list.items}
          changes={strip.data?.clock_changes ?? []}
        />
      )}
      <Loaded what="Calendar" of={list}>
        {(data) =>
          jobs.length === 0 && !list.hasMore ? (
            <Empty title={`No job has a run in ${range.title}`}>
              <p>The calendar shows the runs of jobs with a schedule, of the past and to come.</p>
            </Empty>
          ) : (
            <>
              <Spanned range={range} jobs={jobs} data={data} now={current.value} reload={list.reload} />
              <BackfillDay jobs={jobs} now={current.value} reload={list.reload} />
            </>
          )
        }
      </Loaded>
      {list.hasMore && (
        <p class="more">
          <button type="button" class="button" disabled={list.isLoading} onClick={list.loadMore}>
            {list.isLoading ? "Loading…" : "Show more jobs"}
          </button>
        </p>
      )}
    </div>
  );
}

export interface SpanProps {
  range: Range;
  jobs: CalendarJob[];
  data: Calendar;
  now: number;
  reload: () => void;
}

function Spanned(props: SpanProps) {
  if (props.range.span === "month") return <Month {...props} />;
  return isNarrow.value ? <Agenda {...props} /> : <Grid {...props} />;
}

function Toolbar({ range, children }: { range: Range; children: preact.ComponentChildren }) {
  const spans = isNarrow.value ? SPANS.filter((one) => one !== "week") : SPANS;
  return (
    <div class="calendar-toolbar">
      <Link
        to={withQuery({ at: range.previous, do: null })}
        class="button is-icon"
        aria-label={`Previous ${range.span}`}
      >
        <Icon name="left" />
      </Link>
      <Link to={withQuery({ at: null, do: null })} class="button">
        Today
      </Link>
      <Link to={withQuery({ at: range.next, do: null })} class="button is-icon" aria-label={`Next ${range.span}`}>
        <Icon name="right" />
      </Link>
      <b class="calendar-title" aria-live="polite">
        {range.title}
      </b>
      {children}
      <fieldset class="segments" aria-label="Span">
        {spans.map((one) => (
          <label key={one}>
            <input type="radio" name="span" checked={range.span === one} onChange={() => choose(one)} />
            {words(one)}
          </label>
        ))}
      </fieldset>
    </div>
  );
}

function choose(span: Span): void {
  setQuery({ span: span === "week" ? null : span, do: null });
}

function keysOf(range: Range): KeysOf<"calendar"> {
  return {
    t: () => navigate(withQuery({ at: null, do: null })),
    d: () => choose("day"),
    w: () => choose("week"),
    m: () => choose("month"),
    "[": () => navigate(withQuery({ at: range.previous, do: null })),
    "]": () => navigate(withQuery({ at: range.next, do: null })),
  };
}

function pathOf({ from, to }: { from: number; to: number }, more: Record<string, string | null | undefined>): string {
  return withParameters("/calendar", {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    limit: MOST_JOBS,
    ...more,
  });
}

function isShown(job: CalendarJob, show: string | null): boolean {
  if (show === "long_lane") return job.lane === "long";
  if (show === "with_a_deadline") return job.entries.some((entry) => entry.deadline);
  if (show === "failed_or_at_risk") return runsOf(job).some((run) => isBad(run.outcome) || isInDanger(run.outcome));
  return true;
}
