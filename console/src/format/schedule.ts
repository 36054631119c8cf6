/** A schedule in words. */

import { cronWords } from "./cron-words";
import { duration } from "./duration";
import { cityOf, when } from "./time";

export interface Schedule {
  at?: string;
  cron?: string;
  timezone?: string;
  every_seconds?: number;
  queue?: boolean;
}

/** `daily at 02:00`, `every 15 minutes`, `one per message`, `once, Tue 17 Nov, 12:00`. */
export function scheduleWords(schedule: Schedule | null): string {
  if (!schedule) return "once, when submitted";
  if (schedule.queue) return "one per message";
  if (schedule.every_seconds) return `every ${duration(schedule.every_seconds)}`;
  if (schedule.at) return `once, ${when(new Date(schedule.at))}`;
  if (schedule.cron) {
    return inZone(cronWords(schedule.cron), schedule.timezone);
  }
  return "once, when submitted";
}

/** `Sundays at 02:00 New York`, `every hour, New York`. */
function inZone(words: string, timezone?: string | null): string {
  return `${words}${/:\d\d$/.test(words) ? "" : ","} ${cityOf(timezone ?? "UTC")}`;
}

interface Deadline {
  at?: string | null;
  by?: { cron: string; timezone?: string | null } | null;
  within_seconds?: number | null;
}

/** `1 h after due`, `Wednesdays at 00:00 New York`, `Tue 17 Nov, 12:00`. */
export function deadlineWords({ at, by, within_seconds: within }: Deadline): string {
  if (at) return when(new Date(at));
  if (by) return inZone(cronWords(by.cron), by.timezone);
  return within ? `${duration(within)} after due` : "None";
}
