import { expect, test } from "vitest";
import { declutter } from "./declutter";
import type { RunLayout } from "./layout";
import type { Outcome, Run } from "./runs";

function at(x: number, more: Partial<RunLayout> = {}): RunLayout {
  return { bars: [], glyph: null, whisker: null, flag: null, label: null, from: x - 8, to: x + 8, ...more };
}

const glyph = (x: number) => at(x, { glyph: { x, icon: "succeeded", hue: "ok" } });
const labelled = (x: number, text: string) => at(x, { label: { x: x + 14, anchor: "start", text, hue: "ok" } });
const runs = (...outcomes: Outcome[]) => outcomes.map((outcome) => ({ outcome }) as Run);

test("of statuses in one place, the worst stays, and of equals the latest", () => {
  const found = declutter(
    runs("succeeded", "failed", "succeeded", "succeeded", "succeeded"),
    [100, 104, 108, 200, 205].map(glyph),
    null,
  );
  expect(found.map((one) => one.glyph?.x ?? null)).toEqual([null, 104, null, null, 205]);
});

test("of flags in one place, the last stays", () => {
  const found = declutter(runs("succeeded", "succeeded"), [at(10, { flag: 50 }), at(20, { flag: 55 })], null);
  expect(found.map((one) => one.flag)).toEqual([null, 55]);
});

test("a label yields to the next run of its row, and to a later label", () => {
  const twice = declutter(
    runs("deadline_missed", "deadline_missed"),
    [labelled(100, "Missed"), labelled(102, "Missed")],
    null,
  );
  expect(twice.map((one) => one.label?.x ?? null)).toEqual([null, 116]);
  const before = declutter(runs("at_risk", "succeeded"), [labelled(100, "At risk, 68%"), glyph(140)], null);
  expect(before[0]?.label).toBeNull();
});

test("a label that the current time crosses moves behind it if that is near, else before its run", () => {
  const labelOf = (now: number) => declutter(runs("succeeded"), [labelled(300, "Met, 6 days to spare")], now)[0]?.label;
  expect(labelOf(330)).toMatchObject({ x: 338, anchor: "start" });
  expect(labelOf(400)).toMatchObject({ x: 284, anchor: "end" });
});
