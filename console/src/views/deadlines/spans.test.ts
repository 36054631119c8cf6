import { expect, it } from "vitest";
import { fittingSpan } from "./spans";

const NOW = Date.parse("2026-11-17T20:07:00Z");
const after = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString();

it.each([
  [[0.5, 100], "hour"],
  [[0.5, 3, 100], "day"],
  [[30, 100], "week"],
  [[], "hour"],
] as const)("shows of deadlines in %j hours the next %s", (hours, span) => {
  expect(fittingSpan(hours.map(after), NOW)).toBe(span);
});
