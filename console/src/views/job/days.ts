/** The outcomes of a job by day, as weeks of a year: pure functions for the heat map. Days are in UTC, as counted. */

import type { components } from "../../api/schema";

export type DayStatistics = components["schemas"]["DayStatistics"];
export type Statistics = components["schemas"]["JobStatistics"];

/** `unknown`: before the job's history. `none`: nothing ended on that day. */
export type Outcome = "unknown" | "none" | "succeeded" | "partly" | "failed" | "other";

export interface Day {
  /** `2026-11-17`. */
  day: string;
  outcome: Outcome;
  statistics: DayStatistics | null;
}

const DAY_MS = 86_400_000;
export const WEEKS = 53;
const BAD = ["failed", "timed_out", "missed"];

export function outcomeOf(one: DayStatistics): Outcome {
  const bad = BAD.reduce((sum, status) => sum + (one.counts[status] ?? 0), 0);
  if (one.total === 0) return "none";
  if (bad > 0) return bad === one.total ? "failed" : "partly";
  return one.counts.succeeded ? "succeeded" : "other";
}

/** 53 weeks of seven days, oldest first, each from Monday; days after `today` are left out. */
export function weeksOf({ days, first_day }: Pick<Statistics, "days" | "first_day">, today: Date): Day[][] {
  const known = new Map(days.map((one) => [one.day, one]));
  const last = Date.parse(today.toISOString().slice(0, 10));
  const monday = last - ((new Date(last).getUTCDay() + 6) % 7) * DAY_MS;
  return Array.from({ length: WEEKS }, (_, week) =>
    Array.from({ length: 7 }, (_, weekday) => monday + ((week - WEEKS + 1) * 7 + weekday) * DAY_MS)
      .filter((at) => at <= last)
      .map((at) => dayOf(new Date(at).toISOString().slice(0, 10), known, first_day)),
  );
}

function dayOf(day: string, known: Map<string, DayStatistics>, firstDay: string | null): Day {
  const statistics = known.get(day) ?? null;
  if (statistics) return { day, outcome: outcomeOf(statistics), statistics };
  return { day, outcome: firstDay === null || day < firstDay ? "unknown" : "none", statistics: null };
}

/** `3 succeeded, 1 failed`, or why there is nothing. */
export function inWords({ outcome, statistics }: Day): string {
  if (outcome === "unknown") return "unknown: before the history of this job";
  if (!statistics || statistics.total === 0) return "nothing ended";
  return Object.entries(statistics.counts)
    .map(([status, number]) => `${number} ${status.replaceAll("_", " ")}`)
    .join(", ");
}
