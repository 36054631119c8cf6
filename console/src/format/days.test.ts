import { expect, test } from "vitest";
import { dayOf, dayWords, isDay, plusDays, startOf, weekdayOf } from "./days";

const HOUR = 3_600_000;

test("a day starts at local midnight", () => {
  expect(new Date(startOf("2026-11-15", "America/New_York")).toISOString()).toBe("2026-11-15T05:00:00.000Z");
  expect(new Date(startOf("2026-11-15", "UTC")).toISOString()).toBe("2026-11-15T00:00:00.000Z");
  expect(new Date(startOf("2026-11-15", "Pacific/Kiritimati")).toISOString()).toBe("2026-11-14T10:00:00.000Z");
  expect(new Date(startOf("2026-11-15", "Asia/Kathmandu")).toISOString()).toBe("2026-11-14T18:15:00.000Z");
});

test("days at a clock change have 25 and 23 hours", () => {
  const hours = (day: string) =>
    (startOf(plusDays(day, 1), "America/New_York") - startOf(day, "America/New_York")) / HOUR;
  expect([hours("2026-11-01"), hours("2026-11-02"), hours("2027-03-14")]).toEqual([25, 24, 23]);
});

test("a day whose midnight is skipped starts an hour later", () => {
  expect(new Date(startOf("2026-04-24", "Africa/Cairo")).toISOString()).toBe("2026-04-23T22:00:00.000Z");
});

test("days are added across months and years", () => {
  expect(plusDays("2026-12-31", 1)).toBe("2027-01-01");
  expect(plusDays("2026-03-01", -1)).toBe("2026-02-28");
  expect(weekdayOf("2026-11-15")).toBe(0);
});

test("an instant belongs to the day of its zone", () => {
  expect(dayOf(Date.parse("2026-11-15T03:00:00Z"), "America/New_York")).toBe("2026-11-14");
});

test("only an existing day is a day", () => {
  expect([isDay("2026-11-15"), isDay("2026-02-30"), isDay("x"), isDay(null)]).toEqual([true, false, false, false]);
});

test("a day in words", () => {
  expect(dayWords("2026-11-15", { weekday: "short", day: "numeric" })).toBe("Sun 15");
});
