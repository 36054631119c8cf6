/** How much time the axis of the deadlines shows. */

import type { Deadline } from "../../api/types";

export const SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
export type SpanName = keyof typeof SPANS;

/** The smallest span that reaches at least half of the deadlines, and all that are in danger. */
export function fittingSpan(deadlines: Pick<Deadline, "at" | "state">[], now: number): SpanName {
  const names = Object.keys(SPANS) as SpanName[];
  const fits = (name: SpanName) => {
    const outside = deadlines.filter((one) => Date.parse(one.at) > now + SPANS[name]);
    return outside.length * 2 <= deadlines.length && outside.every((one) => one.state === "on_track");
  };
  return names.find(fits) ?? "week";
}
