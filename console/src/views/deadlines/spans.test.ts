import { expect, it } from "vitest";
import { fittingSpan } from "./spans";

const NOW = Date.parse("2026-11-17T20:07:00Z");
const after = (hours: number, state: "on_track" | "at_risk" = "on_track") => ({
  at: new Date(NOW + hours * 3_600_000).toISOString(),
  state,
});

it.each([
  [[0.5, 100], "hour"],
  [[0.5, 3, 100], "day"],
  [[30, 100], "week"],
  [[], "hour"],
] as const)("shows of deadlines in %j hours the next %s", (hours, span) => {
  expect(
    fittingSpan(
      hours.map((one) => after(one)),
      NOW,
    ),
  ).toBe(span);
});

it("reaches every deadline in danger", () => {
  expect(fittingSpan([after(0.5), after(0.6), after(30, "at_risk")], NOW)).toBe("week");
});
