import { expect, test } from "vitest";
import { peaksOf } from "./usage";

const DAY = 86_400_000;
const days = ["a", "b", "c"].map((day, number) => ({ day, from: number * DAY, to: (number + 1) * DAY }));

test("the peak of a day counts what began before it and has not ended", () => {
  const levels = [
    { at: 0, tasks: 0 },
    { at: 1000, tasks: 5 },
    { at: DAY + 1000, tasks: 5 },
    { at: DAY + 1000, tasks: 2 },
    { at: 2 * DAY, tasks: 0 },
  ];
  expect([...peaksOf(levels, days)]).toEqual([
    ["a", 5],
    ["b", 5],
    ["c", 0],
  ]);
});
