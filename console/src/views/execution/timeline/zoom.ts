/** The span of the timeline that is shown: all of it, or a part that is in the address. */

import type { Axis } from "../../../components/deadline-axis";

const LEAST_MS = 100;
const NEARLY_ALL = 0.9;

/** The span that `text` names, which is two instants. All of the timeline if it names none of it. */
export function zoomed(text: string | null, all: Axis): Axis {
  const [from = Number.NaN, until = Number.NaN] = (text ?? "").split("~").map((one) => Date.parse(one));
  if (!(from < until) || until <= all.from || from >= all.until) return all;
  return within({ from, until }, all);
}

/** Half of the span, around its middle. */
export function closer({ from, until }: Axis, all: Axis): string | null {
  const length = Math.max((until - from) / 2, LEAST_MS);
  return textOf((from + until) / 2, length, all);
}

/** Twice the span. */
export function wider({ from, until }: Axis, all: Axis): string | null {
  return textOf((from + until) / 2, (until - from) * 2, all);
}

/** Half a span to the left (-1) or right (1). */
export function moved({ from, until }: Axis, all: Axis, direction: -1 | 1): string | null {
  return textOf((from + until) / 2 + (direction * (until - from)) / 2, until - from, all);
}

/** For the address, which has milliseconds; moved into the timeline. Null for nearly all of it. */
function textOf(middle: number, length: number, all: Axis): string | null {
  if (length > NEARLY_ALL * (all.until - all.from)) return null;
  const from = Math.min(Math.max(middle - length / 2, all.from), all.until - length);
  return `${new Date(from).toISOString()}~${new Date(from + length).toISOString()}`;
}

function within({ from, until }: Axis, all: Axis): Axis {
  return { from: Math.max(from, all.from), until: Math.min(until, all.until) };
}
