/** The runs that the chart of a job draws: pure functions. */

import type { Execution, RecentExecution } from "../../api/types";
import { FINAL } from "../execution/final";

export interface Run {
  at: number;
  seconds: number;
  isBad: boolean;
  /** From its start to its deadline; null without one. Whatever rule set it, a run above it missed it. */
  allowed: number | null;
}

const LEAST_SHARE = 0.1;

/** The executions that ran and have ended, oldest first. */
export function runsOf(executions: Execution[]): Run[] {
  const runs = executions.flatMap(({ scheduled_at, started_at, ended_at, status, deadline }) => {
    if (!started_at || !ended_at || !FINAL.has(status)) return [];
    const start = Date.parse(started_at);
    return {
      at: Date.parse(scheduled_at),
      seconds: (Date.parse(ended_at) - start) / 1000,
      isBad: status !== "succeeded",
      allowed: deadline ? Math.max(0, (Date.parse(deadline.at) - start) / 1000) : null,
    };
  });
  return byDue(runs);
}

/** The same of the last executions in the record of a job, which have no deadline. */
export function recentRunsOf(executions: RecentExecution[]): Run[] {
  const runs = executions.flatMap(({ scheduled_at, run_seconds, status }) =>
    run_seconds === null
      ? []
      : { at: Date.parse(scheduled_at), seconds: run_seconds, isBad: status !== "succeeded", allowed: null },
  );
  return byDue(runs);
}

function byDue(runs: Run[]): Run[] {
  return runs.sort((one, other) => one.at - other.at);
}

/** Whether the deadline can be drawn without flattening the run times. */
export function isDeadlineDrawn(runs: Run[]): boolean {
  const allowed = runs.flatMap((one) => one.allowed ?? []);
  return allowed.length > 0 && Math.max(...runs.map((one) => one.seconds)) >= Math.min(...allowed) * LEAST_SHARE;
}
