import { expect, it } from "vitest";
import { deadlineWords, scheduleWords } from "./schedule";

it("names the zone of a cron, and explains the other kinds", () => {
  expect(scheduleWords({ cron: "0 2 * * SUN", timezone: "America/New_York" })).toBe("Sundays at 02:00 New York");
  expect(scheduleWords({ cron: "0 * * * *" })).toBe("every hour, UTC");
  expect(scheduleWords({ queue: true })).toBe("one per message");
  expect(scheduleWords({ every_seconds: 90 }).replaceAll("\u00a0", " ")).toBe("every 1 min 30 s");
  expect(scheduleWords(null)).toBe("once, when submitted");
});

it("explains a deadline by its rule", () => {
  expect(deadlineWords({ by: { cron: "0 0 * * WED", timezone: "America/New_York" } })).toBe(
    "Wednesdays at 00:00 New York",
  );
  expect(deadlineWords({ within_seconds: 7200 }).replaceAll("\u00a0", " ")).toBe("2 h after due");
});
