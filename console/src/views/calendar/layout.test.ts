import { expect, test } from "vitest";
import type { CalendarEntry } from "../../api/types";
import { demandOf, overLimit } from "../../format/slot-levels";
import { entryAt, jobWith } from "./fixtures";
import { layoutRun } from "./layout";
import { rangeOf, scaleOf } from "./range";
import { type Run, runsOf } from "./runs";
import { usageOf } from "./usage";

const WEEK = rangeOf("week", "2026-11-17", "2026-11-17", "UTC");
/** Ten pixels an hour. */
const scale = scaleOf(WEEK.columns, 1680);
const hour = (day: number, hours = 0) => new Date(Date.UTC(2026, 10, day, hours)).toISOString();
const x = (day: number, hours = 0) => scale.x(Date.parse(hour(day, hours)));
const NOW = Date.parse(hour(17, 12));

function layout(entry: CalendarEntry, isLong = true) {
  return layoutRun(runsOf(jobWith([entry]))[0] as Run, scale, NOW, { isLong });
}

test("what ran is a bar of its outcome, after its wait", () => {
  const found = layout(
    entryAt(hour(15, 2), { status: "succeeded", origin: "schedule", started_at: hour(15, 4), ended_at: hour(15, 12) }),
  );
  expect(found.bars).toEqual([
    { kind: "wait", x: 20, width: 20 },
    { kind: "ok", x: 40, width: 80 },
  ]);
  expect(found.glyph).toBeNull();
});

test("a run that is too short for a bar shows its status", () => {
  const found = layout(
    entryAt(hour(15, 2), { status: "failed", origin: "schedule", started_at: hour(15, 2), ended_at: hour(15, 2) }),
  );
  expect(found.bars).toEqual([]);
  expect(found.glyph).toEqual({ x: x(15, 2), icon: "failed", hue: "bad" });
});

test("what runs is solid until now, then a forecast with a line to its 95% quantile", () => {
  const found = layout(
    entryAt(hour(17, 2), {
      status: "running",
      origin: "schedule",
      started_at: hour(17, 2),
      median_end: hour(17, 18),
      p95_end: hour(17, 22),
    }),
  );
  expect(found.bars).toEqual([
    { kind: "live", x: x(17, 2), width: 100 },
    { kind: "forecast", x: x(17, 12), width: 60 },
  ]);
  expect(found.whisker).toEqual({ from: x(17, 18), to: x(17, 22) });
});

test("what may end after its deadline is hatched from the flag on", () => {
  const found = layout(
    entryAt(hour(18, 2), {
      median_end: hour(18, 8),
      p95_end: hour(18, 14),
      deadline: { at: hour(18, 10), state: "at_risk", probability: 0.68 },
    }),
  );
  expect(found.bars).toEqual([
    { kind: "forecast", x: x(18, 2), width: 60 },
    { kind: "late", x: x(18, 10), width: 40 },
  ]);
  expect(found.whisker).toEqual({ from: x(18, 8), to: x(18, 10) });
  expect([found.flag, found.label?.text]).toEqual([x(18, 10), "At risk, 68%"]);
});

test("a backfill stays at the day that it repeats", () => {
  const found = layout(
    entryAt(hour(15, 2), { status: "succeeded", origin: "backfill", started_at: hour(17, 2), ended_at: hour(17, 9) }),
  );
  expect(found.bars).toEqual([]);
  expect(found.glyph?.x).toBe(x(15, 2));
});

test("a planned run without a forecast is a clock at its due instant", () => {
  expect(layout(entryAt(hour(19, 2))).glyph).toEqual({ x: x(19, 2), icon: "scheduled", hue: "idle" });
});

test("a deadline that is met is flagged in the long lane only", () => {
  const met = entryAt(hour(15, 2), {
    status: "succeeded",
    started_at: hour(15, 2),
    ended_at: hour(15, 12),
    deadline: { at: hour(15, 22), state: "met", probability: null },
  });
  expect([layout(met).flag, layout(met).label?.text]).toEqual([x(15, 22), "Met, 10\u00a0h to spare"]);
  expect([layout(met, false).flag, layout(met, false).label]).toEqual([null, null]);
});

test("used slots step at each start and end", () => {
  const entry = entryAt(hour(15, 2), { status: "succeeded", started_at: hour(15, 2), ended_at: hour(15, 4), tasks: 7 });
  const levels = usageOf([jobWith([entry], { lane: "long" })], WEEK.from, NOW);
  expect(levels.map((one) => one.tasks)).toEqual([0, 0, 7, 7, 0, 0]);
  expect(usageOf([jobWith([entry])], WEEK.from, NOW).some((one) => one.tasks > 0)).toBe(false);
});

test("the demand above the limit is found as periods", () => {
  const hours = [4, 20, 22, 4, 18].map((tasks, number) => ({ at: hour(18, number), mean_tasks: tasks, mean_vcpus: 0 }));
  const found = overLimit(demandOf(hours, NOW, WEEK.to), 16);
  expect(found.map((one) => one.peak)).toEqual([22, 18]);
  expect(found[0]?.from).toBe(Date.parse(hour(18, 1)));
  expect(demandOf(hours, NOW, Date.parse(hour(18, 2))).at(-1)).toEqual({ at: Date.parse(hour(18, 2)), tasks: 20 });
});
