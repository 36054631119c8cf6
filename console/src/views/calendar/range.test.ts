import { expect, test } from "vitest";
import { boundsOf, rangeOf, scaleOf, sixWeeksAround } from "./range";

const NEW_YORK = "America/New_York";
const HOUR = 3_600_000;

test("a week starts on Sunday and contains its day", () => {
  const week = rangeOf(null, "2026-11-17", "2026-01-01", "UTC");
  expect([week.days[0], week.days[6], week.title]).toEqual(["2026-11-15", "2026-11-21", "15 to 21 Nov 2026"]);
  expect(new Date(week.from).toISOString()).toBe("2026-11-15T00:00:00.000Z");
  expect(week.columns.map((one) => one.title)).toEqual([
    "Sun 15",
    "Mon 16",
    "Tue 17",
    "Wed 18",
    "Thu 19",
    "Fri 20",
    "Sat 21",
  ]);
});

test("without a valid day in the address, today is shown", () => {
  expect(rangeOf("day", null, "2026-11-17", "UTC").days).toEqual(["2026-11-17"]);
  expect(rangeOf("day", "2026-02-31", "2026-11-17", "UTC").days).toEqual(["2026-11-17"]);
});

test("a week of two months names both", () => {
  expect(rangeOf("week", "2026-10-31", "2026-01-01", "UTC").title).toBe("25 to 31 Oct 2026");
  expect(rangeOf("week", "2026-12-01", "2026-01-01", "UTC").title).toBe("29 Nov to 5 Dec 2026");
});

test("a day has a column per hour, 25 where the clocks are set back", () => {
  const day = rangeOf("day", "2026-11-01", "2026-01-01", NEW_YORK);
  expect(day.columns.map((one) => one.title).slice(0, 4)).toEqual(["00", "01", "01", "02"]);
  expect(day.columns.length).toBe(25);
});

test("a month is six weeks, and leads to the months around it", () => {
  const month = rangeOf("month", "2027-01-31", "2026-01-01", "UTC");
  expect([month.days[0], month.days.length, month.title]).toEqual(["2026-12-27", 42, "January 2027"]);
  expect([month.previous, month.next]).toEqual(["2026-12-01", "2027-02-01"]);
});

test("six weeks with a clock change stay within what the API answers", () => {
  const { from, to } = boundsOf(sixWeeksAround("2026-11-17"), NEW_YORK);
  expect((to - from) / HOUR).toBe(42 * 24);
  expect(sixWeeksAround("2026-11-17")[21]).toBe("2026-11-15");
});

test("columns are equally wide at a clock change", () => {
  const { columns } = rangeOf("week", "2026-11-01", "2026-01-01", NEW_YORK);
  const scale = scaleOf(columns, 700);
  expect(columns.map((one) => scale.x(one.from))).toEqual([0, 100, 200, 300, 400, 500, 600]);
  expect(scale.x((columns[0]?.from ?? 0) + 12.5 * HOUR)).toBeCloseTo(50);
  expect([scale.x(0), scale.x(Date.parse("2030-01-01"))]).toEqual([0, 700]);
});
