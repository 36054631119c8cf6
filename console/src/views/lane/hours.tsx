/** The demand for slots in the next seven days, against their number. */

import type { LaneView as Lane } from "../../api/types";
import { dayOf, dayWords, plusDays, startOf } from "../../format/days";
import { plural } from "../../format/duration";
import { demandOf, overLimit } from "../../format/slot-levels";
import { when, zone } from "../../format/time";

const WIDTH = 1200;
const HEIGHT = 120;
const TOP = 16;
const WEEK_MS = 7 * 86_400_000;

export function Hours({ lane }: { lane: Lane }) {
  const from = Date.parse(lane.hours[0]?.at ?? lane.at);
  const to = from + WEEK_MS;
  const levels = demandOf(lane.hours, from, to);
  const over = overLimit(levels, lane.slots.tasks);
  const peak = Math.max(lane.slots.tasks, ...levels.map((one) => one.tasks));
  const x = (at: number) => ((Math.max(from, Math.min(to, at)) - from) / WEEK_MS) * WIDTH;
  const y = (tasks: number) => HEIGHT - (tasks / peak) * (HEIGHT - TOP);
  const line = levels.map((one) => `${x(one.at)} ${y(one.tasks)}`).join("L");
  const days = Array.from({ length: 7 }, (_, number) => plusDays(dayOf(from, zone.value), number + 1));
  const limit = y(lane.slots.tasks);
  return (
    <section class="card">
      <header>
        <h2>Slots, next 7 days</h2>
        <span class="note">demand by hour, limit {plural(lane.slots.tasks, "slot")}</span>
        <span class={`note aside${over.length ? " hue-bad" : ""}`}>{inWords(over, lane.slots.tasks)}</span>
      </header>
      <figure class="body lane-hours">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={inWords(over, lane.slots.tasks)}
        >
          {days.map((day) => (
            <path key={day} d={`M${x(startOf(day, zone.value))} 0V${HEIGHT}`} class="grid-line" />
          ))}
          {line && <path d={`M0 ${HEIGHT}L${line}L${x(levels.at(-1)?.at ?? to)} ${HEIGHT}Z`} class="slots-demand" />}
          {line && <path d={`M${line}`} class="slots-demand-line" />}
          {over.map((one) => (
            <rect
              key={one.from}
              x={x(one.from)}
              y={y(one.peak)}
              width={Math.max(4, x(one.to) - x(one.from))}
              height={limit - y(one.peak)}
              class="slots-over"
            />
          ))}
          <path d={`M0 ${limit}H${WIDTH}`} class="slots-limit" />
        </svg>
        <svg class="lane-days" aria-hidden="true">
          {days.map((day) => (
            <text key={day} x={`${(x(startOf(day, zone.value)) / WIDTH) * 100}%`} y="13" dx="4">
              {dayWords(day, { weekday: "short" })}
              <tspan class="lane-date"> {Number(day.slice(8))}</tspan>
            </text>
          ))}
        </svg>
        {Date.parse(lane.hours_until) < to && (
          <p class="note">Executions that are planned after {when(new Date(lane.hours_until))} are not all counted.</p>
        )}
      </figure>
    </section>
  );
}

function inWords(over: { from: number; peak: number }[], limit: number): string {
  const [first] = over;
  if (!first) return "The demand stays within the limit.";
  return `From ${when(new Date(first.from))}, ${plural(Math.ceil(first.peak - limit), "part")} will wait.`;
}
