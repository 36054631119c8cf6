import { describe, expect, it } from "vitest";
import { cronWords } from "./cron-words";

describe("cronWords", () => {
  it.each([
    ["* * * * *", "every minute"],
    ["*/15 * * * *", "every 15 minutes"],
    ["0/15 * * * *", "every 15 minutes"],
    ["*/15 * * * MON-FRI", "every 15 minutes, Monday to Friday"],
    ["*/15 8-18 * 3,6 MON-FRI", "every 15 minutes from 08:00 to 18:45, Monday to Friday, in March and June"],
    ["*/10 22-1 * * *", "every 10 minutes from 22:00 to 01:50"],
    ["*/30 6,12,13 * * *", "daily at 06:00, 06:30, 12:00, 12:30, 13:00 and 13:30"],
    ["*/20 6,12,13 * * *", "every 20 minutes, in the hours from 06:00, 12:00 and 13:00"],
    ["5,20 * * * *", "at :05 and :20 of the hour"],
    ["0-30 * * * *", "every minute from :00 to :30 of the hour"],
    ["0 * * * *", "every hour"],
    ["5 * * * *", "every hour at :05"],
    ["0 8-18 * * *", "every hour from 08:00 to 18:00"],
    ["0 */6 * * *", "every 6 hours"],
    ["30 */6 * * SUN", "every 6 hours at :30, Sundays"],
    ["0 8-20/2 * * *", "every 2 hours from 08:00 to 20:00"],
    ["0 2 * * *", "daily at 02:00"],
    ["@daily", "daily at 00:00"],
    ["30 6,18 * * *", "daily at 06:30 and 18:30"],
    ["0 12 * * TUE", "Tuesdays at 12:00"],
    ["0 2 * * 0", "Sundays at 02:00"],
    ["0 2 * * 7", "Sundays at 02:00"],
    ["15 20 * * mon,wed", "Mondays and Wednesdays at 20:15"],
    ["0 9 * * SAT,SUN", "Saturdays and Sundays at 09:00"],
    ["0 9 * * FRI-MON", "Friday to Monday at 09:00"],
    ["0 9 * * TUE#3", "the third Tuesday of the month at 09:00"],
    ["0 9 * * 5L", "the last Friday of the month at 09:00"],
    ["0 0 1 * *", "monthly on day 1 at 00:00"],
    ["0 0 1-7,15 * *", "monthly on days 1 to 7 and 15 at 00:00"],
    ["0 0 1,L * *", "monthly on day 1 and the last day at 00:00"],
    ["0 0 */3 * *", "monthly on each 3rd day from day 1 at 00:00"],
    ["0 0 1 */3 *", "on day 1 at 00:00, in January, April, July and October"],
    ["0 0 1 3-6 *", "on day 1 at 00:00, from March to June"],
    ["0 0 1 jan *", "yearly on 1 January at 00:00"],
    ["0 0 L 2 *", "on the last day at 00:00, in February"],
    ["0 2 * 3 *", "daily at 02:00, in March"],
  ])("explains %s as %s", (cron, words) => {
    expect(cronWords(cron)).toBe(words);
  });

  it.each([
    ["0 2 1 * MON", "monthly on day 1 and on Mondays at 02:00"],
    ["0 2 */2 * MON", "monthly on each 2nd day from day 1, only Mondays, at 02:00"],
    ["0 * */2 * MON", "every hour, monthly on each 2nd day from day 1, only Mondays"],
    ["0 2 1-31 * MON", "daily at 02:00"],
    ["0 2 1 * 0-6", "daily at 02:00"],
  ])("explains two day fields as the API matches them: %s as %s", (cron, words) => {
    expect(cronWords(cron)).toBe(words);
  });

  it.each([
    "nonsense",
    "60 * * * *",
    "0 2 * *",
    "0 2 * * TUE#6",
    "*/61 * * * *",
    "0 1,5,6,9,11,20,23 * * *",
    "? 1 * * *",
  ])("returns %s unchanged", (cron) => {
    expect(cronWords(cron)).toBe(cron);
  });
});
