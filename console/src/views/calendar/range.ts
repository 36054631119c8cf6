/** The range of time that the calendar shows, and its columns. */

import { type Day, dayWords, isDay, plusDays, startOf, weekdayOf } from "../../format/days";
import { clock } from "../../format/time";

export const SPANS = ["day", "week", "month"] as const;
export type Span = (typeof SPANS)[number];

/** A day of a week, or an hour of a day. All columns are equally wide, also at a clock change. */
export interface Column {
  from: number;
  to: number;
  title: string;
}

export interface Range {
  span: Span;
  at: Day;
  days: Day[];
  from: number;
  to: number;
  columns: Column[];
  title: string;
  previous: Day;
  next: Day;
}

const HOUR_MS = 3_600_000;
const WEEK = 7;
const SIX_WEEKS = 42;
/** The API answers at most this much, an hour less than six weeks in which the clocks are set back. */
const MOST_MS = SIX_WEEKS * 24 * HOUR_MS;

export function rangeOf(span: string | null, at: string | null, today: Day, timeZone: string): Range {
  const day = isDay(at) ? at : today;
  if (span === "day") return ofDay(day, timeZone);
  if (span === "month") return ofMonth(day, timeZone);
  return ofWeek(day, timeZone);
}

/** Six weeks, of which the fourth contains the day. */
export function sixWeeksAround(day: Day): Day[] {
  return daysFrom(plusDays(sundayOf(day), -3 * WEEK), SIX_WEEKS);
}

/** The query of the API for these days. */
export function boundsOf(days: Day[], timeZone: string): { from: number; to: number } {
  const from = startOf(days[0] as Day, timeZone);
  const to = startOf(plusDays(days.at(-1) as Day, 1), timeZone);
  return { from, to: Math.min(to, from + MOST_MS) };
}

function ofDay(day: Day, timeZone: string): Range {
  const { from, to } = boundsOf([day], timeZone);
  const columns: Column[] = [];
  for (let at = from; at < to; at += HOUR_MS) columns.push({ from: at, to: at + HOUR_MS, title: hourOf(at, timeZone) });
  const title = dayWords(day, { weekday: "short", day: "numeric", month: "short", year: "numeric" });
  return {
    span: "day",
    at: day,
    days: [day],
    from,
    to,
    columns,
    title,
    previous: plusDays(day, -1),
    next: plusDays(day, 1),
  };
}

function ofWeek(day: Day, timeZone: string): Range {
  const days = daysFrom(sundayOf(day), WEEK);
  const columns = days.map((one) => ({
    from: startOf(one, timeZone),
    to: startOf(plusDays(one, 1), timeZone),
    title: dayWords(one, { weekday: "short", day: "numeric" }),
  }));
  const [first, last] = [days[0] as Day, days.at(-1) as Day];
  const isOneMonth = first.slice(0, 7) === last.slice(0, 7);
  const begin = dayWords(first, isOneMonth ? { day: "numeric" } : { day: "numeric", month: "short" });
  return {
    span: "week",
    at: day,
    days,
    ...boundsOf(days, timeZone),
    columns,
    title: `${begin} to ${dayWords(last, { day: "numeric", month: "short", year: "numeric" })}`,
    previous: plusDays(day, -WEEK),
    next: plusDays(day, WEEK),
  };
}

function ofMonth(day: Day, timeZone: string): Range {
  const first = `${day.slice(0, 8)}01`;
  const days = daysFrom(sundayOf(first), SIX_WEEKS);
  return {
    span: "month",
    at: day,
    days,
    ...boundsOf(days, timeZone),
    columns: [],
    title: dayWords(day, { month: "long", year: "numeric" }),
    previous: `${plusDays(first, -1).slice(0, 8)}01`,
    next: `${plusDays(first, 31).slice(0, 8)}01`,
  };
}

function sundayOf(day: Day): Day {
  return plusDays(day, -weekdayOf(day));
}

function daysFrom(first: Day, count: number): Day[] {
  return Array.from({ length: count }, (_, position) => plusDays(first, position));
}

function hourOf(at: number, timeZone: string): string {
  return clock(new Date(at), timeZone).slice(0, 2);
}

/** Converts instants to positions: each column is equally wide. */
export interface Scale {
  width: number;
  x: (at: number) => number;
}

export function scaleOf(columns: Column[], width: number): Scale {
  const step = width / Math.max(1, columns.length);
  const x = (at: number) => {
    const first = columns[0];
    if (!first || at <= first.from) return 0;
    let low = 0;
    let high = columns.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((columns[middle] as Column).from <= at) low = middle;
      else high = middle - 1;
    }
    const column = columns[low] as Column;
    return hundredths(Math.min(width, step * (low + (at - column.from) / (column.to - column.from))));
  };
  return { width, x };
}

/** SVG needs no more digits. */
export function hundredths(pixels: number): number {
  return Math.round(pixels * 100) / 100;
}
