/** How late executions started in each quarter of an hour, by queue: the 99th percentile, on a logarithmic scale. */

import type { Summary } from "../../api/types";
import { Chart, type Line } from "../../components/chart";
import { coarse, count, duration } from "../../format/duration";

const COLOURS: Record<string, string> = { high: "ok-fill", normal: "live-fill", low: "idle-fill", long: "wait-fill" };
const GOAL_SECONDS = 2;
/** A logarithmic scale has no zero. */
const LEAST_SECONDS = 0.01;

export function DelayChart({ buckets }: { buckets: Summary["items"] }) {
  const queues = Object.keys(COLOURS).filter((name) =>
    buckets.some((one) => one.start_delay_p99_seconds[name] !== undefined),
  );
  if (queues.length === 0) return null;
  const lines: Line[] = queues.map((name) => ({
    title: name,
    token: COLOURS[name] ?? "idle-fill",
    kind: "line",
    values: buckets.map((one) => {
      const seconds = one.start_delay_p99_seconds[name];
      return seconds === undefined ? null : Math.max(LEAST_SECONDS, seconds);
    }),
  }));
  const goal: Line = { title: "Goal", token: "text-3", kind: "dashed", values: buckets.map(() => GOAL_SECONDS) };
  return (
    <section class="card narrow-hidden">
      <header>
        <h2>Start delay</h2>
        <span class="note">P99 from when an execution could start to its start, by queue, last 24 h</span>
        <span class="note aside">goal {duration(GOAL_SECONDS)}</span>
      </header>
      <div class="body">
        <Chart
          label={`Start delay by queue, last 24 hours: ${queues.map((name) => inWords(name, buckets)).join("; ")}`}
          times={buckets.map((one) => Date.parse(one.start))}
          lines={[...lines, goal]}
          isLogarithmic
          text={short}
        />
      </div>
    </section>
  );
}

/** `normal at most 17 min, last 0.4 s`. */
function inWords(queue: string, buckets: Summary["items"]): string {
  const delays = buckets.flatMap((one) => one.start_delay_p99_seconds[queue] ?? []);
  return `${queue} at most ${short(Math.max(...delays))}, last ${short(delays.at(-1) ?? 0)}`;
}

/** The axis names powers of ten; of other long delays, the largest unit is enough: `17 min`. */
function short(seconds: number): string {
  if (Number.isInteger(Math.log10(seconds))) return `${count(seconds)}\u00a0s`;
  return seconds < 10 ? duration(seconds) : coarse(seconds);
}
