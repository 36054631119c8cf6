/** The rows of the calendar: bars for single runs, a cell an hour for frequent jobs, volume for queue jobs. */

import type { CalendarJob } from "../../api/types";
import type { Scale } from "./range";
import { hueOf, isBad, type Outcome, type Run, runsOf, worstOf } from "./runs";

export interface Row {
  job: CalendarJob;
  name: string;
  kind: "bars" | "cells" | "volume";
  runs: Run[];
}

/** The runs of a job within one hour. */
export interface Cell {
  key: string;
  from: number;
  to: number;
  runs: Run[];
  worst: Outcome;
  failed: number;
  isPlanned: boolean;
}

const HOUR_MS = 3_600_000;
/** Runs that are closer to each other than this overlap. */
const LEAST_GAP = 18;
const KINDS = { bars: 0, cells: 1, volume: 2 };

export function rowsOf(jobs: CalendarJob[], scale: Scale): Row[] {
  const rows = jobs.map((job) => {
    const runs = runsOf(job);
    return { job, name: job.job_name ?? job.task, kind: kindOf(job, runs, scale), runs };
  });
  return rows.sort((one, other) => KINDS[one.kind] - KINDS[other.kind] || one.name.localeCompare(other.name));
}

function kindOf(job: CalendarJob, runs: Run[], scale: Scale): Row["kind"] {
  if (job.takes_messages) return "volume";
  return job.lane === "short" && usualGap(runs, scale) < LEAST_GAP ? "cells" : "bars";
}

/** The median distance between neighbours, in pixels. */
function usualGap(runs: Run[], scale: Scale): number {
  if (runs.length < 6) return Number.POSITIVE_INFINITY;
  const gaps: number[] = [];
  for (let position = 1; position < runs.length; position++)
    gaps.push(scale.x((runs[position] as Run).at) - scale.x((runs[position - 1] as Run).at));
  return gaps.sort((one, other) => one - other)[gaps.length >> 1] as number;
}

export function cellsOf(row: Row, from: number): Cell[] {
  const byHour = new Map<number, Run[]>();
  for (const run of row.runs) {
    const hour = Math.floor((run.at - from) / HOUR_MS);
    byHour.set(hour, [...(byHour.get(hour) ?? []), run]);
  }
  return [...byHour].map(([hour, runs]) => ({
    key: `${row.job.job_id}~h${from + hour * HOUR_MS}`,
    from: from + hour * HOUR_MS,
    to: from + (hour + 1) * HOUR_MS,
    runs,
    worst: worstOf(runs.map((run) => run.outcome)) as Outcome,
    failed: runs.filter((run) => isBad(run.outcome)).length,
    isPlanned: runs.every((run) => run.entry.status === null || run.entry.status === "scheduled"),
  }));
}

/** Whether a cell has to be seen: it is not only what is usual. */
export function isRemarkable(cell: Cell): boolean {
  return hueOf(cell.worst) === "bad" || hueOf(cell.worst) === "warn";
}
