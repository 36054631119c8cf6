/** A cron expression in words: `every 15 minutes from 08:00 to 18:45, Monday to Friday, in March and June`. */

import { type Cron, parseCron } from "./cron";

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July", "August", "September", "October"],
  ...["November", "December"],
];
const ORDINALS = ["first", "second", "third", "fourth", "fifth"];
const MOST_TIMES = 6;

/** An expression that the API does not accept, or with an irregular pattern of hours, is returned as it is. */
export function cronWords(expression: string): string {
  const cron = parseCron(expression);
  if (!cron) return expression;
  if (isYearly(cron))
    return `yearly on ${cron.days[0]} ${monthWords(cron.months).slice(3)} at ${listed(allTimes(cron))}`;
  const dates = dateWords(cron);
  const months = monthWords(cron.months);
  if (areTimes(cron)) return [`${dates} at ${listed(allTimes(cron))}`, months].filter(Boolean).join(", ");
  const interval = intervalWords(cron);
  if (!interval) return expression;
  return [interval, dates === "daily" ? "" : dates.replace(/,$/, ""), months].filter(Boolean).join(", ");
}

function isYearly(cron: Cron): boolean {
  const { days, isLastDay, months, weekdays } = cron;
  return areTimes(cron) && days.length === 1 && months.length === 1 && weekdays.length === 7 && !isLastDay;
}

/** Whether it is read as times of a day, not as an interval: few times, and no run of hours. */
function areTimes({ minutes, hours }: Cron): boolean {
  if (minutes.length * hours.length > MOST_TIMES) return false;
  return hours.length < 3 || (consecutive(hours, 24) === null && !isSpread(hours, 24));
}

function allTimes({ minutes, hours }: Cron): string[] {
  return hours.flatMap((hour) => minutes.map((minute) => clockAt(hour, minute)));
}

function intervalWords({ minutes, hours }: Cron): string | null {
  const [first = 0] = minutes;
  const within = hours.length < 24 ? consecutive(hours, 24) : null;
  if (minutes.length > 1) {
    const every = minuteWords(minutes);
    if (hours.length === 24) return every;
    if (within) return every + rangeOf(within, minutes);
    return `${every}, in the hours from ${listed(hours.map((hour) => clockAt(hour, 0)))}`;
  }
  const at = first === 0 ? "" : ` at :${digits(first)}`;
  if (hours.length === 24) return `every hour${at}`;
  if (within) return `every hour${rangeOf(within, minutes)}`;
  const step = stepOf(hours, 24);
  if (!step) return null;
  return isSpread(hours, 24) ? `every ${step} hours${at}` : `every ${step} hours${rangeOf(hours, minutes)}`;
}

/** Whether the values divide the whole range evenly. */
function isSpread(values: number[], size: number): boolean {
  return values[0] === 0 && (stepOf(values, size) ?? 0) * values.length === size;
}

/** `every 15 minutes`, or the minutes of each hour if they are not evenly spread over it. */
function minuteWords(minutes: number[]): string {
  const step = stepOf(minutes, 60);
  if (isSpread(minutes, 60)) return step === 1 ? "every minute" : `every ${step} minutes`;
  if (step === 1) return `every minute from :${digits(minutes[0] ?? 0)} to :${digits(minutes.at(-1) ?? 0)} of the hour`;
  return `at ${listed(minutes.map((minute) => `:${digits(minute)}`))} of the hour`;
}

/** ` from 08:00 to 18:45`: the first and the last match of a day. */
function rangeOf(hours: number[], minutes: number[]): string {
  return ` from ${clockAt(hours[0] ?? 0, minutes[0] ?? 0)} to ${clockAt(hours.at(-1) ?? 0, minutes.at(-1) ?? 0)}`;
}

function dateWords(cron: Cron): string {
  const days = dayWords(cron);
  const weekdays = weekdayWords(cron);
  if (!days || !weekdays) return (cron.needsBoth && (weekdays ?? (days && monthly(cron, days)))) || "daily";
  return cron.needsBoth ? `${monthly(cron, days)}, only ${weekdays},` : `${monthly(cron, days)} and on ${weekdays}`;
}

function monthly({ months }: Cron, days: string): string {
  return months.length === 12 ? `monthly on ${days}` : `on ${days}`;
}

/** `day 1`, `days 1 to 7`, `day 15 and the last day`; null if each day matches. */
function dayWords({ days, isLastDay }: Cron): string | null {
  if (days.length === 31) return null;
  const step = stepOf(days, 31);
  const isStep = step && step > 1 && days.length > 4;
  const numbers = isStep
    ? `each ${ordinal(step)} day from day ${days[0]}`
    : `${days.length === 1 ? "day" : "days"} ${listed(runs(days).map(String))}`;
  return listed([...(days.length ? [numbers] : []), ...(isLastDay ? ["the last day"] : [])]);
}

function weekdayWords({ weekdays, counted }: Cron): string | null {
  if (weekdays.length === 7) return null;
  const nth = counted.map(
    (one) => `the ${one.nth === "last" ? "last" : ORDINALS[one.nth - 1]} ${WEEKDAYS[one.weekday]} of the month`,
  );
  return listed([...plainWeekdays(weekdays), ...nth]);
}

/** `["Monday to Friday"]`, `["Mondays", "Wednesdays"]`: from Monday on. */
function plainWeekdays(weekdays: number[]): string[] {
  const within = weekdays.length > 2 ? consecutive(weekdays, 7) : null;
  if (within) return [`${WEEKDAYS[within[0] ?? 0]} to ${WEEKDAYS[within.at(-1) ?? 0]}`];
  const fromMonday = [...weekdays].sort((one, other) => ((one + 6) % 7) - ((other + 6) % 7));
  return fromMonday.map((one) => `${WEEKDAYS[one]}s`);
}

function monthWords(months: number[]): string {
  if (months.length === 12) return "";
  const name = (month: number) => MONTHS[month - 1] ?? "";
  const within = months.length > 2 ? consecutive(months, 12) : null;
  if (within) return `from ${name(within[0] ?? 1)} to ${name(within.at(-1) ?? 1)}`;
  return `in ${listed(months.map(name))}`;
}

/** The values in the order of one unbroken run, which may wrap (`[22, 23, 0, 1]`); null if there is a gap. */
function consecutive(values: number[], size: number): number[] | null {
  const gaps = values.filter((value, index) => {
    const next = values[index + 1] ?? (values[0] ?? 0) + size;
    return next - value > 1;
  });
  if (gaps.length > 1 || values.length < 2) return null;
  const start = gaps[0] === undefined ? 0 : (values.indexOf(gaps[0]) + 1) % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}

/** The distance of evenly spaced values; null if they are not. */
function stepOf(values: number[], size: number): number | null {
  const [first = 0, second] = values;
  if (second === undefined) return null;
  const step = second - first;
  const isEven = values.every((value, index) => value === first + index * step);
  const reachesEnd = (values.at(-1) ?? 0) + step >= size;
  return isEven && (reachesEnd || values.length > 2) ? step : null;
}

/** `[1, 2, 3, 15]` as `["1 to 3", 15]`. */
function runs(values: number[]): (string | number)[] {
  const found: number[][] = [];
  for (const value of values) {
    const last = found.at(-1);
    if (last?.at(-1) === value - 1) last.push(value);
    else found.push([value]);
  }
  return found.flatMap((run): (string | number)[] => (run.length > 2 ? [`${run[0]} to ${run.at(-1)}`] : run));
}

function ordinal(number: number): string {
  return { 2: "2nd", 3: "3rd" }[number] ?? `${number}th`;
}

function clockAt(hour: number, minute: number): string {
  return `${digits(hour)}:${digits(minute)}`;
}

function digits(value: number): string {
  return String(value).padStart(2, "0");
}

function listed(items: string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
