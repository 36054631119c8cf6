import { expect, it } from "vitest";
import { failureLabels, ticksOf } from "./ended";

it.each([
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [236, [0, 100, 200, 300]],
  [900, [0, 500, 1000]],
])("has round ticks up to %i", (most, ticks) => {
  expect(ticksOf(most)).toEqual(ticks);
});

it("writes out the worst failures that do not touch", () => {
  const buckets = [9, 8, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2].map((failed) => ({
    counts: { failed },
  }));
  expect(failureLabels(buckets).map((one) => [one.position, one.failed])).toEqual([
    [0, 9],
    [7, 3],
    [19, 2],
  ]);
});
