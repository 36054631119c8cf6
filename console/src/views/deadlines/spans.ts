/** How much time the axis of the deadlines shows. */

export const SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
export type SpanName = keyof typeof SPANS;

/** The smallest span that reaches at least half of the deadlines. */
export function fittingSpan(deadlines: string[], now: number): SpanName {
  const names = Object.keys(SPANS) as SpanName[];
  const reaches = (name: SpanName) => deadlines.filter((at) => Date.parse(at) <= now + SPANS[name]).length;
  return names.find((name) => reaches(name) * 2 >= deadlines.length) ?? "week";
}

export interface Mark {
  at: number;
  percent: number;
}

/** Four or so instants to name on the axis, at full hours or days. */
export function marksOf(from: number, until: number, offset = 0): Mark[] {
  const steps = [5, 10, 15, 30, 60, 180, 360, 720, 1_440, 2_880].map((minutes) => minutes * 60_000);
  const step = steps.find((one) => (until - from) / one <= 6) ?? steps[steps.length - 1] ?? 1;
  const marks: Mark[] = [];
  for (let at = Math.ceil((from + offset) / step) * step - offset; at < until; at += step)
    marks.push({ at, percent: ((at - from) / (until - from)) * 100 });
  return marks;
}
