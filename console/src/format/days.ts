/** Calendar days of a time zone, as `2026-11-15`. A day has 23, 24 or 25 hours. */

export type Day = string;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function format(timeZone: string): Intl.DateTimeFormat {
  let found = formats.get(timeZone);
  if (!found) {
    found = new Intl.DateTimeFormat("en-US", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
    formats.set(timeZone, found);
  }
  return found;
}

/** The day of an instant. */
export function dayOf(at: number, timeZone: string): Day {
  const parts = format(timeZone).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}

export function plusDays(day: Day, days: number): Day {
  return new Date(noon(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** 0 is Sunday. */
export function weekdayOf(day: Day): number {
  return new Date(noon(day)).getUTCDay();
}

/** The first instant of a day: also where the clocks change at midnight. */
export function startOf(day: Day, timeZone: string): number {
  let before = noon(day) - 36 * HOUR_MS; // an instant of an earlier day in each zone
  let step = 32 * HOUR_MS;
  while (step >= 1000) {
    if (dayOf(before + step, timeZone) < day) before += step;
    step /= 2;
  }
  return Math.ceil((before + 1) / 60_000) * 60_000;
}

export function isDay(text: string | null): text is Day {
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(noon(text)) && plusDays(text, 0) === text;
}

const ORDER = ["weekday", "day", "month", "year"] as const;

/** `Sun 15`, `Nov`, `15 Nov 2026`: a day in words, without a zone. */
export function dayWords(day: Day, options: Pick<Intl.DateTimeFormatOptions, (typeof ORDER)[number]>): string {
  const parts = new Intl.DateTimeFormat("en-US", { ...options, timeZone: "UTC" }).formatToParts(noon(day));
  const words = ORDER.map((type) => parts.find((one) => one.type === type)?.value);
  return words.filter(Boolean).join(" ");
}

function noon(day: Day): number {
  return Date.parse(`${day}T12:00:00Z`);
}
