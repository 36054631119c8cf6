/** What the calendar knows of each due instant of a job: its decisive execution, and how bad it is. */

import type { CalendarEntry, CalendarJob } from "../../api/types";
import type { IconName } from "../../components/icon";
import type { Hue } from "../../components/status";
import { type Day, dayOf } from "../../format/days";

export interface Run {
  /** Unique among the runs of a calendar. */
  key: string;
  at: number;
  /** The execution that decides: the live one, or one that succeeded, or the latest. */
  entry: CalendarEntry;
  /** The other executions of this due instant: earlier tries. */
  others: CalendarEntry[];
  outcome: Outcome;
}

/** From the outcomes that most need attention to those that need none. */
export const OUTCOMES = [
  "failed",
  "timed_out",
  "missed",
  "will_miss",
  "at_risk",
  "deadline_missed",
  "retrying",
  "running",
  "starting",
  "waiting",
  "queued",
  "succeeded",
  "scheduled",
  "skipped",
  "cancelled",
  "excluded",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

const HUES: Partial<Record<Outcome, Hue>> = {
  failed: "bad",
  timed_out: "bad",
  missed: "bad",
  will_miss: "bad",
  deadline_missed: "bad",
  at_risk: "warn",
  retrying: "warn",
  running: "live",
  starting: "live",
  waiting: "wait",
  succeeded: "ok",
};
const BAD = new Set<Outcome>(["failed", "timed_out", "missed"]);
const DANGER = new Set<Outcome>(["will_miss", "at_risk"]);
const LIVE = new Set(["queued", "waiting", "starting", "running", "retrying"]);
/** What a backfill with `missing_and_failed` runs again. */
const REPAIRABLE = new Set<Outcome>(["failed", "timed_out", "missed", "skipped", "cancelled"]);

export const hueOf = (outcome: Outcome): Hue => HUES[outcome] ?? "idle";
export const isBad = (outcome: Outcome): boolean => BAD.has(outcome);
export const isInDanger = (outcome: Outcome): boolean => DANGER.has(outcome);
export const isLive = (entry: CalendarEntry): boolean => LIVE.has(entry.status ?? "");
export const isRepairable = (outcome: Outcome): boolean => REPAIRABLE.has(outcome);

export function iconOf(outcome: Outcome): IconName {
  return outcome === "excluded" ? "cancelled" : outcome;
}

export function worstOf(outcomes: Iterable<Outcome>): Outcome | null {
  let worst: number | null = null;
  for (const one of outcomes) {
    const rank = OUTCOMES.indexOf(one);
    if (worst === null || rank < worst) worst = rank;
  }
  return worst === null ? null : (OUTCOMES[worst] as Outcome);
}

/** The runs of a job by due instant. A retry and a backfill count for the instant that they repeat. */
export function runsOf(job: CalendarJob): Run[] {
  const byInstant = new Map<string, CalendarEntry[]>();
  for (const entry of job.entries) {
    const key = job.takes_messages ? (entry.execution_id ?? entry.at) : entry.at;
    byInstant.set(key, [...(byInstant.get(key) ?? []), entry]);
  }
  return [...byInstant.values()].map((entries) => {
    const entry = [...entries].sort(byWeight).at(-1) as CalendarEntry;
    return {
      key: `${job.job_id}~${entry.execution_id ?? entry.at}`,
      at: Date.parse(entry.at),
      entry,
      others: entries.filter((one) => one !== entry),
      outcome: outcomeOf(entry),
    };
  });
}

function byWeight(one: CalendarEntry, other: CalendarEntry): number {
  const weight = (entry: CalendarEntry) => (isLive(entry) ? 2 : entry.status === "succeeded" ? 1 : 0);
  return weight(one) - weight(other) || (one.execution_id ?? "").localeCompare(other.execution_id ?? "");
}

function outcomeOf(entry: CalendarEntry): Outcome {
  const state = entry.deadline?.state;
  if (entry.status === null && entry.execution_id === null) return "excluded";
  if (entry.status === "succeeded") return state === "missed" ? "deadline_missed" : "succeeded";
  const isOver = entry.status !== null && !isLive(entry) && entry.status !== "scheduled";
  if (!isOver && state === "missed") return "will_miss";
  if (!isOver && (state === "at_risk" || state === "will_miss")) return state;
  return (entry.status ?? "scheduled") as Outcome;
}

/** The job with its runs that are queued before they are due shown as planned. */
export function asOf(job: CalendarJob, now: number): CalendarJob {
  const isEarly = (entry: CalendarEntry) => entry.status === "queued" && Date.parse(entry.at) > now;
  if (!job.entries.some(isEarly)) return job;
  return {
    ...job,
    entries: job.entries.map((entry) => (isEarly(entry) ? { ...entry, status: "scheduled" as const } : entry)),
  };
}

/** The job with the entries that are due, run, or are expected to run within the range. */
export function within(job: CalendarJob, from: number, to: number): CalendarJob {
  const overlaps = (entry: CalendarEntry) => {
    const end = entry.ended_at ?? entry.p95_end ?? (isLive(entry) ? new Date(to).toISOString() : entry.at);
    return Date.parse(entry.at) < to && Math.max(Date.parse(end), Date.parse(entry.at)) >= from;
  };
  return { ...job, entries: job.entries.filter(overlaps) };
}

/** What happens on a day, over all jobs. */
export interface DayCount {
  ended: number;
  failed: number;
  inDanger: number;
  live: number;
  planned: number;
  excluded: number;
  worst: Outcome | null;
}

export function countByDay(runs: Iterable<Run>, timeZone: string): Map<Day, DayCount> {
  const days = new Map<Day, DayCount>();
  for (const run of runs) {
    const day = dayOf(run.at, timeZone);
    let count = days.get(day);
    if (!count) {
      count = { ended: 0, failed: 0, inDanger: 0, live: 0, planned: 0, excluded: 0, worst: null };
      days.set(day, count);
    }
    if (isBad(run.outcome)) count.failed += 1;
    if (isInDanger(run.outcome)) count.inDanger += 1;
    if (run.outcome === "excluded") count.excluded += 1;
    else if (isLive(run.entry)) count.live += 1;
    else if (run.entry.status === null || run.entry.status === "scheduled") count.planned += 1;
    else count.ended += 1;
    count.worst = worstOf(count.worst ? [count.worst, run.outcome] : [run.outcome]);
  }
  return days;
}
