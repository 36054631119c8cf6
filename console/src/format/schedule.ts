/** A schedule in words. */

import { coarse, duration } from "./duration";
import { cityOf, when } from "./time";

export interface Schedule {
  at?: string;
  cron?: string;
  timezone?: string;
  every_seconds?: number;
  queue?: boolean;
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const SHORT_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** `daily at 02:00`, `every 15 min`, `one per message`, `once, Tue 17 Nov, 12:00`. */
export function scheduleWords(schedule: Schedule | null): string {
  if (!schedule) return "once, when submitted";
  if (schedule.queue) return "one per message";
  if (schedule.every_seconds) return `every ${duration(schedule.every_seconds)}`;
  if (schedule.at) return `once, ${when(new Date(schedule.at))}`;
  if (schedule.cron) {
    const zone = schedule.timezone && schedule.timezone !== "UTC" ? ` ${cityOf(schedule.timezone)}` : " UTC";
    return cronWords(schedule.cron) + zone;
  }
  return "once, when submitted";
}

/** A cron expression in words; an expression without a simple wording is returned as it is. */
export function cronWords(cron: string): string {
  const fields = cron.trim().toUpperCase().split(/\s+/);
  if (fields.length !== 5) return cron;
  const [minute = "", hour = "", dayOfMonth = "", month = "", weekday = ""] = fields;
  const dates = dateWords(dayOfMonth, month, weekday);
  if (dates === null) return cron;
  const step = /^(?:\*|0)\/(\d+)$/;
  const isEveryDay = dates === "daily";
  const on = isEveryDay ? "" : `, ${dates}`;
  const everyMinutes = step.exec(minute);
  if (minute === "*" && hour === "*") return `every minute${on}`;
  if (everyMinutes && hour === "*") return `every ${coarse(Number(everyMinutes[1]) * 60)}${on}`;
  if (!/^\d+$/.test(minute)) return cron;
  if (hour === "*") return `${minute === "0" ? "every hour" : `every hour at :${minute.padStart(2, "0")}`}${on}`;
  const everyHours = step.exec(hour);
  if (everyHours) return `every ${everyHours[1]} hours at :${minute.padStart(2, "0")}${on}`;
  if (!/^\d+(,\d+)*$/.test(hour)) return cron;
  const times = hour.split(",").map((one) => `${one.padStart(2, "0")}:${minute.padStart(2, "0")}`);
  return `${dates} at ${listWords(times)}`;
}

function dateWords(dayOfMonth: string, month: string, weekday: string): string | null {
  if (month !== "*") return null;
  if (dayOfMonth === "*" && weekday === "*") return "daily";
  if (dayOfMonth === "*") return weekdayWords(weekday);
  if (weekday !== "*" || !/^\d+$/.test(dayOfMonth)) return null;
  return `monthly on day ${dayOfMonth}`;
}

function weekdayWords(field: string): string | null {
  if (/^(MON-FRI|1-5)$/.test(field)) return "Mon to Fri";
  const names = field.split(",").map(dayName);
  if (names.some((one) => one === null)) return null;
  return listWords(names.map((one) => `${one}s`));
}

function dayName(field: string): string | null {
  const position = /^\d$/.test(field) ? Number(field) % 7 : SHORT_DAYS.indexOf(field);
  return DAYS[position] ?? null;
}

function listWords(items: string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
