/** Durations and counts as text. Numbers and units are joined by a no-break space. */

const SPACE = "\u00a0";
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `40 ms`, `46 s`, `3 min 24 s`, `7 h 12 min`, `4 days 3 h`. */
export function duration(seconds: number): string {
  if (seconds < 0) return `−${duration(-seconds)}`;
  if (seconds > 0 && seconds < 0.1) return join(Math.max(1, Math.round(seconds * 1000)), "ms");
  if (seconds < 10) return join(Math.round(seconds * 10) / 10, "s");
  const whole = Math.round(seconds);
  if (whole < MINUTE) return join(whole, "s");
  if (whole < HOUR) return pair(whole, MINUTE, "min", 1, "s");
  if (whole < DAY) return pair(whole, HOUR, "h", MINUTE, "min");
  const days = Math.floor(whole / DAY);
  const hours = Math.floor((whole % DAY) / HOUR);
  return join(days, days === 1 ? "day" : "days") + (hours && days < 7 ? ` ${join(hours, "h")}` : "");
}

/** `in 4 days`, `12 s ago`, `now`: the largest unit only. */
export function relative(from: Date, to: Date): string {
  const seconds = Math.round((to.getTime() - from.getTime()) / 1000);
  if (seconds === 0) return "now";
  const text = coarse(Math.abs(seconds));
  return seconds > 0 ? `in ${text}` : `${text} ago`;
}

/** The largest unit only: `46 s`, `12 min`, `15 h`, `4 days`, `6 weeks`. */
export function coarse(seconds: number): string {
  if (seconds < MINUTE) return join(Math.round(seconds), "s");
  if (seconds < HOUR) return join(Math.round(seconds / MINUTE), "min");
  if (seconds < 2 * DAY) return join(Math.round(seconds / HOUR), "h");
  if (seconds < 21 * DAY) return join(Math.round(seconds / DAY), "days");
  return join(Math.round(seconds / (7 * DAY)), "weeks");
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `1 job`, `3,214 jobs`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)}${SPACE}${value === 1 ? one : many}`;
}

export function percent(value: number): string {
  return `${Math.round(value)}%`;
}

function pair(whole: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const units = Math.floor(whole / big);
  const rest = Math.floor((whole % big) / small);
  return join(units, bigUnit) + (rest ? ` ${join(rest, smallUnit)}` : "");
}

function join(value: number, unit: string): string {
  return `${count(value)}${SPACE}${unit}`;
}
