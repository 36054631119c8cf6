/** How much time the axis of the deadlines shows. */

export const SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
export type SpanName = keyof typeof SPANS;

/** The smallest span that reaches at least half of the deadlines. */
export function fittingSpan(deadlines: string[], now: number): SpanName {
  const names = Object.keys(SPANS) as SpanName[];
  const reaches = (name: SpanName) => deadlines.filter((at) => Date.parse(at) <= now + SPANS[name]).length;
  return names.find((name) => reaches(name) * 2 >= deadlines.length) ?? "week";
}
