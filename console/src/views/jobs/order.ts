/** Orders of the jobs that no index of the API serves: they sort the jobs that are loaded. */

import type { Job } from "../../api/types";

/** Failed jobs first, then the others by the outcome of their last run. */
const STATUSES = ["failed", "timed_out", "missed", "cancelled", "skipped", "succeeded"];

/** The value of a job in each order, ascending. Null: after all others. */
const VALUES: Record<string, (job: Job) => number | null> = {
  next: ({ state, next_due_at }) => (state === "active" && next_due_at ? Date.parse(next_due_at) : null),
  last: ({ last_execution }) => (last_execution ? STATUSES.indexOf(last_execution.status) : null),
  duration: ({ median_seconds }) => (median_seconds == null ? null : -median_seconds),
};

export function isLoadedOrder(order: string): boolean {
  return order in VALUES;
}

export function sorted(jobs: Job[], order: string): Job[] {
  const value = (job: Job) => VALUES[order]?.(job) ?? Number.POSITIVE_INFINITY;
  return [...jobs].sort((one, other) => compare(value(one), value(other)));
}

/** Two infinite values are equal, and stay in the order of the API. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
