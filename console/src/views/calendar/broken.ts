/** The missed and failed runs of a day that a user may repeat. */

import { Problem } from "../../api/problem";
import type { CalendarJob, Changes } from "../../api/types";
import { mayManage } from "../../state/me";
import { isBad, type Run, runsOf } from "./runs";

export interface Broken {
  job: CalendarJob;
  runs: Run[];
}

const LIVE = new Set(["active", "paused"]);

/** The jobs with a missed or failed run that was due from `from` on and before `to`. */
export function brokenOn(jobs: CalendarJob[], from: number, to: number): Broken[] {
  return jobs
    .filter((job) => LIVE.has(job.state) && !job.takes_messages && mayManage(job.owner))
    .map((job) => ({
      job,
      runs: runsOf(job).filter((run) => isBad(run.outcome) && run.at >= from && run.at < to),
    }))
    .filter((one) => one.runs.length > 0);
}

/** From the first to the last of them: what the job has missed before it existed stays. */
export function bodyOf({ runs }: Broken): { from: string; to: string; which: string } {
  const instants = runs.map((run) => run.at);
  return {
    from: new Date(Math.min(...instants)).toISOString(),
    to: new Date(Math.max(...instants) + 1).toISOString(),
    which: "missing_and_failed",
  };
}

/** How many runs a backfill would start. */
export function totalOf(answer: Changes | Problem | undefined): number {
  if (!answer || answer instanceof Problem) return 0;
  return answer.appear.length + answer.repeat.length + answer.left_out;
}
