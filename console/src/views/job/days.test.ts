import { describe, expect, it } from "vitest";
import { type DayStatistics, inWords, outcomeOf, WEEKS, weeksOf } from "./days";

const QUANTILES = { median_seconds: null, p95_seconds: null };

function counted(day: string, counts: Record<string, number>): DayStatistics {
  const total = Object.values(counts).reduce((sum, one) => sum + one, 0);
  return { day, total, counts, run_times: QUANTILES, lateness: QUANTILES };
}

const THURSDAY = new Date("2026-11-19T10:00:00Z");

describe("the weeks of the heat map", () => {
  it("end today, and begin on a Monday", () => {
    const weeks = weeksOf({ days: [], first_day: null }, THURSDAY);
    expect(weeks).toHaveLength(WEEKS);
    expect(weeks.at(-1)?.map((one) => one.day)).toEqual(["2026-11-16", "2026-11-17", "2026-11-18", "2026-11-19"]);
    expect(new Date(weeks[0]?.[0]?.day ?? "").getUTCDay()).toBe(1);
  });

  it("tell days before the history from days without executions", () => {
    const days = [counted("2026-11-17", { succeeded: 2 })];
    const last = weeksOf({ days, first_day: "2026-11-17" }, THURSDAY).at(-1);
    expect(last?.map((one) => one.outcome)).toEqual(["unknown", "succeeded", "none", "none"]);
  });
});

describe("the outcome of a day", () => {
  it.each([
    [{ succeeded: 3 }, "succeeded"],
    [{ succeeded: 3, failed: 1 }, "partly"],
    [{ timed_out: 1, missed: 1 }, "failed"],
    [{ skipped: 4 }, "other"],
    [{}, "none"],
  ])("of %j is %s", (counts, outcome) => {
    expect(outcomeOf(counted("2026-11-17", counts))).toBe(outcome);
  });

  it("is said in words", () => {
    const statistics = counted("2026-11-17", { succeeded: 3, timed_out: 1 });
    expect(inWords({ day: "2026-11-17", outcome: "partly", statistics })).toBe("3 succeeded, 1 timed out");
    expect(inWords({ day: "2026-11-17", outcome: "unknown", statistics: null })).toMatch(/before the history/);
  });
});
