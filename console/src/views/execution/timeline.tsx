/** When the execution and its parts waited, ran and ended, with the forecast and the deadline, on one time axis. */

import { useId } from "preact/hooks";
import type { Execution } from "../../api/types";
import { marksOf } from "../../components/axis-marks";
import { type Axis, positionOn } from "../../components/deadline-axis";
import { Icon, type IconName } from "../../components/icon";
import { words } from "../../components/status";
import { duration } from "../../format/duration";
import { clock, clockSeconds, offsetOf, when } from "../../format/time";
import { now } from "../../state/clock";
import { FINAL } from "./final";
import { Bars } from "./timeline-bars";
import { inWords, isNear, rowsOf } from "./timeline-rows";

const ROW = 20;
const MARGIN = 0.03;
const DAY_MS = 86_400_000;
const SHORT_MS = 300_000;
/** A name this close to another one (in percent) is left out. */
const NEAR = 8;

export function Timeline({ execution }: { execution: Execution }) {
  const hatch = useId();
  const rows = rowsOf(execution);
  const isLive = !FINAL.has(execution.status);
  const current = now.value.getTime();
  const from = Math.min(...rows.map((row) => row.from));
  const ends = rows.flatMap((row) => [row.ended ?? (isLive ? current : 0), row.forecast ?? 0]);
  const end = Math.max(...ends, from + 1000);
  const at = execution.deadline && isLive ? Date.parse(execution.deadline.at) : null;
  const deadline = at !== null && isNear(at, from, end) ? at : null;
  const last = Math.max(end, deadline ?? 0);
  const axis = { from, until: last + (last - from) * MARGIN };
  const x = (at: number) => positionOn(axis, at);
  return (
    <section class="card">
      <header>
        <h2>Timeline</h2>
        <span class="note">
          {when(new Date(from))} to {when(new Date(last))}
        </span>
        <Legend />
      </header>
      <svg width="0" height="0" class="visually-hidden" aria-hidden="true">
        <pattern id={hatch} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" class="wait-ground" />
          <rect width="2" height="6" class="wait-line" />
        </pattern>
      </svg>
      <div class="timeline body">
        <Head axis={axis} current={isLive ? current : null} deadline={deadline} />
        <ol>
          {rows.map((row) => (
            <li key={row.name}>
              <span class={`part hue-of-${row.status}`} title={words(row.status)}>
                <Icon name={row.status as IconName} label={words(row.status)} />
                <span>{row.name}</span>
              </span>
              <svg width="100%" height={ROW} role="img" aria-label={inWords(row)}>
                {marksOf(axis.from, axis.until, offsetOf(now.value)).map((mark) => (
                  <Line key={mark.at} at={mark.percent} class="grid-line" />
                ))}
                <Bars row={row} x={x} current={current} hatch={`url(#${hatch})`} />
                {deadline !== null && <Line at={x(deadline)} class="tick is-deadline" />}
                {isLive && <Line at={x(current)} class="tick" />}
              </svg>
              <span class="number">{row.percent === null ? "" : `${Math.round(row.percent)}%`}</span>
              <span class="number dim">
                {row.started ? duration(((row.ended ?? current) - row.started) / 1000) : "–"}
              </span>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function Line({ at, class: className }: { at: number; class: string }) {
  return <line x1={`${at}%`} x2={`${at}%`} y1="0" y2={ROW} class={className} />;
}

function Head({ axis, current, deadline }: { axis: Axis; current: number | null; deadline: number | null }) {
  const span = axis.until - axis.from;
  const text = (at: number) => (span > DAY_MS ? when : span < SHORT_MS ? clockSeconds : clock)(new Date(at));
  const fixed = [
    ...(current === null ? [] : [{ at: current, text: "Now" }]),
    ...(deadline === null ? [] : [{ at: deadline, text: "Deadline" }]),
  ].map((one) => ({ ...one, percent: positionOn(axis, one.at) }));
  const marks = marksOf(axis.from, axis.until, offsetOf(now.value)).filter(
    (mark) => mark.percent < 96 && fixed.every((one) => Math.abs(one.percent - mark.percent) > NEAR),
  );
  return (
    <div class="timeline-head" aria-hidden="true">
      <span>Part</span>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the whole head is hidden, each row names its instants */}
      <svg width="100%" height="20">
        {marks.map((mark) => (
          <text key={mark.at} x={`${mark.percent}%`} y="14" class="bar-label" text-anchor="middle">
            {text(mark.at)}
          </text>
        ))}
        {fixed.map((one) => (
          <text
            key={one.text}
            x={`${one.percent}%`}
            y="14"
            class="bar-label is-strong"
            text-anchor={one.percent > 90 ? "end" : one.percent < 5 ? "start" : "middle"}
          >
            {one.text}
          </text>
        ))}
      </svg>
      <span class="number">Done</span>
      <span class="number">Time</span>
    </div>
  );
}

function Legend() {
  return (
    <span class="legend is-grouped aside note">
      <span>
        <i class="is-wait" /> Waits
      </span>
      <span>
        <i class="fill-live" /> Runs
      </span>
      <span>
        <i class="fill-ok" /> Succeeded
      </span>
      <span>
        <i class="fill-bad" /> Failed
      </span>
      <span>
        <i class="is-forecast" /> Forecast
      </span>
    </span>
  );
}
