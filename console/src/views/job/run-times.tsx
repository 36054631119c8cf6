/** The run times of a job's last executions against their median, P95 and deadlines. */

import type { Job } from "../../api/types";
import { Chart, type Line } from "../../components/chart";
import { duration } from "../../format/duration";
import { isDeadlineDrawn, type Run } from "./runs";

export function RunTimes({ job, runs }: { job: Job; runs: Run[] }) {
  if (runs.length < 2) return null;
  const failed = runs.filter((one) => one.isBad).length;
  const flat = (seconds: number) => runs.map(() => seconds);
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
  const allowed = [...runs].reverse().find((one) => one.allowed !== null)?.allowed;
  const isDrawn = isDeadlineDrawn(runs);
  if (isDrawn) lines.push({ title: "Deadline", token: "text", kind: "line", values: runs.map((one) => one.allowed) });
  return (
    <section class="card">
      <header>
        <h2>Run time</h2>
        <span class="note">
          last {runs.length} runs, {failed} failed
          {allowed != null && !isDrawn && `; the deadline, ${duration(allowed)} after the start, is above the chart`}
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
