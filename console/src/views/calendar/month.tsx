/** Six weeks as a grid of days: what ended, what failed or is at risk, what is planned. A day opens. */

import { useMemo } from "preact/hooks";
import type { Calendar, CalendarJob } from "../../api/types";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { type Day, dayOf, dayWords, plusDays, startOf } from "../../format/days";
import { plural } from "../../format/duration";
import { demandOf } from "../../format/slot-levels";
import { zone } from "../../format/time";
import { withQuery } from "../../router";
import { countByDay, type DayCount, hueOf, iconOf, runsOf } from "./runs";
import { peaksOf, usageOf } from "./usage";
import type { SpanProps } from "./view";
import { alarmOfDay, clockChangeWords, volumeOfDay } from "./words";

const WEEK = 7;

export function Month({ range, jobs, data, now }: SpanProps) {
  const counts = useMemo(() => countByDay(jobs.flatMap(runsOf), zone.value), [jobs, zone.value]);
  const today = dayOf(now, zone.value);
  const changesOf = (day: Day) => data.clock_changes.filter((one) => dayOf(Date.parse(one.at), zone.value) === day);
  const peaks = useMemo(() => peaksOfMonth(range, jobs, data, now), [range, jobs, data, now]);
  const isPartial = jobs.some((job) => Date.parse(job.complete_from) > range.from);
  const weeks = Array.from({ length: range.days.length / WEEK }, (_, week) =>
    range.days.slice(week * WEEK, week * WEEK + WEEK),
  );
  return (
    <>
      <table class="calendar-month-grid" aria-label={range.title}>
        <thead>
          <tr>
            {range.days.slice(0, WEEK).map((day) => (
              <th key={day} scope="col">
                {dayWords(day, { weekday: "short" })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={step}>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day} class={day.slice(0, 7) === range.at.slice(0, 7) ? undefined : "is-outside"}>
                  <DayCell
                    day={day}
                    isToday={day === today}
                    found={counts.get(day)}
                    note={changesOf(day).length ? clockChangeWords(changesOf(day)) : ""}
                    peak={peaks.get(day) ?? 0}
                    slots={data.long_lane?.tasks ?? 0}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isPartial && (
        <p class="note padded">
          Of a job that runs often, the latest 100 runs and the next 100 are counted: days further away show fewer than
          there were.
        </p>
      )}
    </>
  );
}

interface CellProps {
  day: Day;
  isToday: boolean;
  found: DayCount | undefined;
  note: string;
  /** The most slots of the long lane that are held, or in demand. */
  peak: number;
  slots: number;
}

function DayCell({ day, isToday, found, note, peak, slots }: CellProps) {
  const alarm = alarmOfDay(found);
  const volume = volumeOfDay(found);
  const name = dayWords(day, { weekday: "long", day: "numeric", month: "long" });
  const skipped = found?.excluded ? `${found.excluded} skipped` : "";
  return (
    <Link
      to={withQuery({ at: day, span: "day" })}
      class={isToday ? "is-today" : undefined}
      aria-current={isToday ? "date" : undefined}
    >
      <span class="visually-hidden">
        {[name, alarm?.text, volume, skipped, note, slotsInWords(peak, slots)].filter(Boolean).join(", ")}
      </span>
      <span class="number-of-day" aria-hidden="true">
        {Number(day.slice(8))}
      </span>
      {found?.worst && (
        <span class={`worst hue-${hueOf(found.worst)}`}>
          <Icon name={iconOf(found.worst)} />
        </span>
      )}
      {alarm && (
        <span class={`alarm hue-${alarm.hue}`} aria-hidden="true">
          {alarm.text}
        </span>
      )}
      <span class="note" aria-hidden="true">
        {volume}
      </span>
      <span class="note" aria-hidden="true">
        {[skipped, note].filter(Boolean).join(", ")}
      </span>
      {peak > 0 && slots > 0 && <DaySlots peak={peak} slots={slots} />}
    </Link>
  );
}

/** The share of the slots that the day needs at its peak; red and full beyond their number. */
function DaySlots({ peak, slots }: { peak: number; slots: number }) {
  const isOver = peak > slots;
  return (
    <span class="day-slots" aria-hidden="true">
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: hidden, the day says it in words */}
      <svg width="100%" height="4">
        <rect width="100%" height="4" rx="2" class="track" />
        <rect
          width={`${Math.min(100, (peak / slots) * 100)}%`}
          height="4"
          rx="2"
          class={isOver ? "fill-bad" : "fill-idle"}
        />
      </svg>
      <span class={isOver ? "note hue-bad" : "note"}>{slotsInWords(peak, slots)}</span>
    </span>
  );
}

/** `up to 12 of 16 slots`, `4 parts will wait`. */
function slotsInWords(peak: number, slots: number): string {
  if (peak <= 0 || slots <= 0) return "";
  if (peak > slots) return `${plural(Math.ceil(peak - slots), "part")} will wait`;
  return `up to ${Math.ceil(peak)} of ${slots} slots`;
}

function peaksOfMonth(range: SpanProps["range"], jobs: CalendarJob[], data: Calendar, now: number): Map<Day, number> {
  const used = usageOf(jobs, range.from, Math.min(now, range.to));
  const demand = demandOf(data.long_lane?.hours ?? [], Math.max(now, range.from), range.to);
  const days = range.days.map((day) => ({
    day,
    from: startOf(day, zone.value),
    to: startOf(plusDays(day, 1), zone.value),
  }));
  return peaksOf([...used, ...demand], days);
}

function step(event: KeyboardEvent): void {
  const offset = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -WEEK, ArrowDown: WEEK }[event.key];
  if (!offset) return;
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll("a")];
  links[links.indexOf(document.activeElement as HTMLAnchorElement) + offset]?.focus();
  event.preventDefault();
}
