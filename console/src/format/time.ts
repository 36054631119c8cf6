/** Instants as text, in the viewer's zone unless another one is given. */

import { signal } from "@preact/signals";

const LOCALE = "en-GB";

/** The zone in which instants are shown. */
export const zone = signal(Intl.DateTimeFormat().resolvedOptions().timeZone);

const formats = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions, timeZone: string): Intl.DateTimeFormat {
  const key = timeZone + JSON.stringify(options);
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(LOCALE, { ...options, timeZone, hourCycle: "h23" });
    formats.set(key, found);
  }
  return found;
}

/** `20:14`. */
export function clock(at: Date, timeZone = zone.value): string {
  return format({ hour: "2-digit", minute: "2-digit" }, timeZone).format(at);
}

/** `20:14:02`. */
export function clockSeconds(at: Date, timeZone = zone.value): string {
  return format({ hour: "2-digit", minute: "2-digit", second: "2-digit" }, timeZone).format(at);
}

/** `20:14:02.117`. */
export function clockMilliseconds(at: Date, timeZone = zone.value): string {
  return `${clockSeconds(at, timeZone)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** `Tue 17 Nov`, with the year if it is not the current one. */
export function day(at: Date, now = new Date(), timeZone = zone.value): string {
  const isThisYear =
    format({ year: "numeric" }, timeZone).format(at) === format({ year: "numeric" }, timeZone).format(now);
  const parts = format({ weekday: "short", day: "numeric", month: "short", year: "numeric" }, timeZone).formatToParts(
    at,
  );
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("weekday")} ${part("day")} ${part("month")}${isThisYear ? "" : ` ${part("year")}`}`;
}

/** `20:14` today, `Wed 20:14` within six days, otherwise `Tue 17 Nov, 20:14`. */
export function when(at: Date, now = new Date(), timeZone = zone.value): string {
  if (day(at, now, timeZone) === day(now, now, timeZone)) return clock(at, timeZone);
  const days = Math.abs(at.getTime() - now.getTime()) / 86_400_000;
  if (days < 6) return `${format({ weekday: "short" }, timeZone).format(at)} ${clock(at, timeZone)}`;
  return `${day(at, now, timeZone)}, ${clock(at, timeZone)}`;
}

/** `Tue 17 Nov, 20:14:02`: for titles and details. */
export function full(at: Date, timeZone = zone.value): string {
  return `${day(at, new Date(), timeZone)}, ${clockSeconds(at, timeZone)}`;
}

/** `Tue 17 Nov, 20:14:02 EST`. */
export function withZone(at: Date, timeZone = zone.value): string {
  return `${full(at, timeZone)} ${abbreviation(at, timeZone)}`;
}

/** `EST`, `GMT+1`. */
export function abbreviation(at: Date, timeZone = zone.value): string {
  const parts = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "short" }).formatToParts(at);
  return parts.find((one) => one.type === "timeZoneName")?.value ?? timeZone;
}

/** `New York` for `America/New_York`. */
export function cityOf(timeZone: string): string {
  return (timeZone.split("/").at(-1) ?? timeZone).replace(/_/g, " ");
}

/** The due instant in an execution id, such as `20261115T070000000Z-…`. */
export function dueOf(executionId: string): Date | null {
  const found = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(executionId);
  if (!found) return null;
  const [, year, month, date, hour, minute, second, millisecond] = found.map(Number) as number[];
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, date, hour, minute, second, millisecond));
}

/** How far the wall clock of a zone is ahead of UTC, in milliseconds. */
export function offsetOf(at: Date, timeZone = zone.value): number {
  const options = { hour: "2-digit", minute: "2-digit", day: "2-digit", month: "2-digit", year: "numeric" } as const;
  const parts = format(options, timeZone).formatToParts(at);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value ?? 0);
  const wall = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
  return wall - Math.floor(at.getTime() / 60_000) * 60_000;
}
