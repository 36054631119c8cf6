/** The instants that an axis names. */

export interface Mark {
  at: number;
  percent: number;
}

const STEPS = [
  ...[1, 5, 15, 60, 120, 300],
  ...[10, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 10_080].map((m) => m * 60),
];
const MOST_MARKS = 7;

/** About six instants, at full minutes, hours or days of a zone that is `offset` ahead of UTC. */
export function marksOf(from: number, until: number, offset = 0): Mark[] {
  const steps = STEPS.map((seconds) => seconds * 1000);
  const step = steps.find((one) => (until - from) / one <= MOST_MARKS) ?? until - from;
  const marks: Mark[] = [];
  for (let at = Math.ceil((from + offset) / step) * step - offset; at < until; at += step)
    marks.push({ at, percent: ((at - from) / (until - from)) * 100 });
  return marks;
}
