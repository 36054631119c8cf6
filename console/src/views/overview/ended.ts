/** What the chart of ended executions shows. */

import type { Summary } from "../../api/types";

type Bucket = Summary["items"][number];

export function failuresOf({ counts }: Pick<Bucket, "counts">): number {
  return (counts.failed ?? 0) + (counts.timed_out ?? 0);
}

const MOST_LABELS = 3;
/** Labels this many columns apart do not touch. */
const APART = 6;

/** The columns whose number of failures is written out: the worst ones, apart from each other. */
export function failureLabels(buckets: Pick<Bucket, "counts">[]): { position: number; failed: number }[] {
  const all = buckets.map((one, position) => ({ position, failed: failuresOf(one) })).filter((one) => one.failed > 0);
  const chosen: typeof all = [];
  for (const one of all.sort((a, b) => b.failed - a.failed || b.position - a.position)) {
    if (chosen.length === MOST_LABELS) break;
    if (chosen.every((other) => Math.abs(other.position - one.position) >= APART)) chosen.push(one);
  }
  return chosen;
}

const STEPS = [1, 2, 5];

/** `0, 300, 600, 900`: three or four round values that reach the largest one. */
export function ticksOf(most: number): number[] {
  for (let power = 1; ; power *= 10)
    for (const step of STEPS)
      if (step * power * 4 >= most) {
        const number = Math.max(1, Math.ceil(most / (step * power)));
        return Array.from({ length: number + 1 }, (_, position) => position * step * power);
      }
}
