/** The run times of a job's last executions against their median, P95 and deadline. */

import type { Execution, Job } from "../../api/types";
import { Chart, type Line } from "../../components/chart";
import { duration } from "../../format/duration";
import { FINAL } from "../execution/final";

export interface Run {
  at: number;
  seconds: number;
  isBad: boolean;
}

/** The executions that ran and have ended, oldest first. */
export function runsOf(executions: Execution[]): Run[] {
  return executions
    .filter((one) => one.started_at && one.ended_at && FINAL.has(one.status))
    .map((one) => ({
      at: Date.parse(one.scheduled_at),
      seconds: (Date.parse(one.ended_at ?? "") - Date.parse(one.started_at ?? "")) / 1000,
      isBad: one.status !== "succeeded",
    }))
    .sort((one, other) => one.at - other.at);
}

export function RunTimes({ job, executions }: { job: Job; executions: Execution[] }) {
  const runs = runsOf(executions);
  if (runs.length < 2) return null;
  const failed = runs.filter((one) => one.isBad).length;
  const flat = (seconds: number) => runs.map(() => seconds);
  const within = Number(job.deadline?.within_seconds ?? Number.NaN);
  const lines: Line[] = [
    {
      title: "Succeeded",
      token: "idle-fill",
      kind: "dots",
      values: runs.map((one) => (one.isBad ? null : one.seconds)),
    },
    {
      title: "Failed",
      token: "bad-fill",
      kind: "squares",
      values: runs.map((one) => (one.isBad ? one.seconds : null)),
    },
  ];
  if (job.median_seconds != null)
    lines.push({ title: "Median", token: "live-fill", kind: "line", values: flat(job.median_seconds) });
  if (job.p95_seconds != null)
    lines.push({ title: "P95", token: "live-fill", kind: "dashed", values: flat(job.p95_seconds) });
  if (!Number.isNaN(within)) lines.push({ title: "Deadline", token: "text", kind: "line", values: flat(within) });
  return (
    <section class="card">
      <header>
        <h2>Run time</h2>
        <span class="note">
          last {runs.length} runs, {failed} failed
        </span>
        {job.median_seconds != null && (
          <span class="note aside">
            median {duration(job.median_seconds)}, P95 {duration(job.p95_seconds ?? job.median_seconds)}
          </span>
        )}
      </header>
      <div class="body">
        <Chart
          label={`Run times of the last ${runs.length} runs, ${failed} failed`}
          times={runs.map((one) => one.at)}
          lines={lines}
          text={duration}
        />
      </div>
    </section>
  );
}
