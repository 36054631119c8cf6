/** A cron expression as sets of values, with the rules of the API: ranges may wrap, and a step may follow a value. */

export interface Cron {
  minutes: number[];
  hours: number[];
  days: number[];
  /** Whether the last day of each month is among the days. */
  isLastDay: boolean;
  months: number[];
  /** From 0, Sunday. */
  weekdays: number[];
  /** Such as the third Tuesday, or the last Friday (`nth` is `last`), of a month. */
  counted: { weekday: number; nth: number | "last" }[];
  /** Whether a date has to match both day fields: a field that starts with `*` does not widen the other. */
  needsBoth: boolean;
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const SHORTHANDS: Record<string, string> = {
  "@YEARLY": "0 0 1 1 *",
  "@ANNUALLY": "0 0 1 1 *",
  "@MONTHLY": "0 0 1 * *",
  "@WEEKLY": "0 0 * * 0",
  "@DAILY": "0 0 * * *",
  "@MIDNIGHT": "0 0 * * *",
  "@HOURLY": "0 * * * *",
};

interface Field {
  low: number;
  high: number;
  names?: string[];
}

const MINUTE: Field = { low: 0, high: 59 };
const HOUR: Field = { low: 0, high: 23 };
const DAY: Field = { low: 1, high: 31 };
const MONTH: Field = { low: 1, high: 12, names: MONTHS };
const WEEKDAY: Field = { low: 0, high: 6, names: WEEKDAYS };

/** Null if it is not an expression that the API accepts. */
export function parseCron(expression: string): Cron | null {
  const text = expression.trim().toUpperCase();
  const fields = (SHORTHANDS[text] ?? text).split(/\s+/);
  if (fields.length !== 5) return null;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const plainDays = day.split(",").filter((item) => item !== "L");
  const isLastDay = plainDays.length < day.split(",").length;
  const items = weekday.split(",");
  const counted = items.map(countedOf).filter((one) => one !== null);
  const plainWeekdays = items.filter((item) => countedOf(item) === null);
  const sets = [
    valuesOf(MINUTE, [minute]),
    valuesOf(HOUR, [hour]),
    valuesOf(DAY, plainDays),
    valuesOf(MONTH, [month]),
    valuesOf(WEEKDAY, plainWeekdays),
  ];
  const [minutes, hours, days, months, weekdays] = sets;
  if (!minutes?.length || !hours?.length || !days || !months?.length || !weekdays) return null;
  return {
    minutes,
    hours,
    days,
    isLastDay,
    months,
    weekdays,
    counted,
    needsBoth: `${day[0]}${weekday[0]}`.includes("*"),
  };
}

function countedOf(item: string): Cron["counted"][number] | null {
  const nth = /^(\w+)#([1-5])$/.exec(item);
  const last = /^(?:L([0-7]|[A-Z]{3})|([0-7]|[A-Z]{3})L)$/.exec(item);
  const weekday = numberOf(WEEKDAY, nth?.[1] ?? last?.[1] ?? last?.[2] ?? "");
  return weekday === null ? null : { weekday: weekday % 7, nth: nth ? Number(nth[2]) : "last" };
}

/** Ascending. Null if an item is invalid. */
function valuesOf(field: Field, texts: string[]): number[] | null {
  const found = new Set<number>();
  for (const item of texts.flatMap((text) => text.split(","))) {
    const values = itemValues(field, item);
    if (values === null) return null;
    for (const value of values) found.add(value);
  }
  return [...found].sort((one, other) => one - other);
}

function itemValues(field: Field, item: string): number[] | null {
  const match = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,3}))?$/.exec(item);
  if (!match) return null;
  const [, first, last, by] = match;
  const size = field.high - field.low + 1;
  const step = Number(by ?? 1);
  const low = first === undefined ? field.low : numberOf(field, first);
  const high =
    first === undefined || (by !== undefined && last === undefined) ? field.high : numberOf(field, last ?? first);
  if (low === null || high === null || step < 1 || step > size) return null;
  const span = high >= low ? high - low : high - low + size;
  return Array.from(
    { length: Math.floor(span / step) + 1 },
    (_, number) => ((low - field.low + number * step) % size) + field.low,
  );
}

function numberOf(field: Field, text: string): number | null {
  const name = field.names?.indexOf(text) ?? -1;
  if (name >= 0) return field.low + name;
  const highest = field === WEEKDAY ? 7 : field.high;
  const value = Number(text);
  return /^\d+$/.test(text) && value >= field.low && value <= highest ? value : null;
}
