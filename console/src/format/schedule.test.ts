import { describe, expect, it } from "vitest";
import { cronWords, scheduleWords } from "./schedule";

describe("cronWords", () => {
  it.each([
    ["* * * * *", "every minute"],
    ["*/15 * * * *", "every 15 min"],
    ["*/15 * * * MON-FRI", "every 15 min, Mon to Fri"],
    ["0 * * * *", "every hour"],
    ["5 * * * *", "every hour at :05"],
    ["0 2 * * *", "daily at 02:00"],
    ["30 6,18 * * *", "daily at 06:30 and 18:30"],
    ["0 12 * * TUE", "Tuesdays at 12:00"],
    ["0 2 * * 0", "Sundays at 02:00"],
    ["0 2 * * 7", "Sundays at 02:00"],
    ["15 20 * * mon,wed", "Mondays and Wednesdays at 20:15"],
    ["0 0 1 * *", "monthly on day 1 at 00:00"],
  ])("explains %s as %s", (cron, words) => {
    expect(cronWords(cron).replaceAll("\u00a0", " ")).toBe(words);
  });

  it.each(["0 2 * 3 *", "0 2 1 * MON", "0-30 * * * *", "nonsense", "0 2 * * TUE#2"])("returns %s unchanged", (cron) => {
    expect(cronWords(cron)).toBe(cron);
  });
});

it("names the zone of a cron, and explains the other kinds", () => {
  expect(scheduleWords({ cron: "0 2 * * SUN", timezone: "America/New_York" })).toBe("Sundays at 02:00 New York");
  expect(scheduleWords({ queue: true })).toBe("one per message");
  expect(scheduleWords({ every_seconds: 90 }).replaceAll("\u00a0", " ")).toBe("every 1 min 30 s");
  expect(scheduleWords(null)).toBe("once, when submitted");
});
