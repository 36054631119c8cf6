/** The span of time that one or several deadline bars show. */

import type { Deadline } from "../api/types";

export interface Axis {
  from: number;
  until: number;
}

export interface Shown {
  deadline: Deadline;
  startedAt?: string | null | undefined;
}

/** Room to the right of the latest instant, for its line. */
const MARGIN = 0.04;

/** From the earliest start (or now) to the latest deadline or forecast. */
export function axisOf(shown: Shown[], now: number): Axis {
  const from = Math.min(now, ...shown.flatMap((one) => (one.startedAt ? [Date.parse(one.startedAt)] : [])));
  const ends = shown.flatMap(({ deadline }) => [
    Date.parse(deadline.at),
    ...(deadline.p95_end ? [Date.parse(deadline.p95_end)] : []),
  ]);
  const last = Math.max(now + 1, ...ends);
  return { from, until: last + (last - from) * MARGIN };
}

/** The percentage of the width at which an instant is. Instants outside are at the edge. */
export function positionOn({ from, until }: Axis, at: number): number {
  return Math.max(0, Math.min(100, ((at - from) / (until - from)) * 100));
}
