/** When the execution and its parts were due, waited, ran and ended, with the forecast and the deadline, on one axis. */

import { useId } from "preact/hooks";
import type { Execution } from "../../../api/types";
import { marksOf } from "../../../components/axis-marks";
import { type Axis, positionOn } from "../../../components/deadline-axis";
import { Icon, type IconName } from "../../../components/icon";
import { words } from "../../../components/status";
import { duration } from "../../../format/duration";
import { clock, clockSeconds, offsetOf, when } from "../../../format/time";
import { place } from "../../../router";
import { now } from "../../../state/clock";
import { Events } from "../events";
import { FINAL } from "../final";
import { Bars } from "./bars";
import { Head } from "./head";
import { Legend } from "./legend";
import { inWords, isNear, type Row, rowsOf, shownOf } from "./rows";
import { zoomed } from "./zoom";
import { ZoomButtons } from "./zoom-buttons";

const ROW = 28;
const MARGIN = 0.03;
const HOUR_MS = 3_600_000;
const SHORT_MS = 300_000;

export function Timeline({ execution }: { execution: Execution }) {
  const hatch = useId();
  const current = now.value.getTime();
  const rows = rowsOf(execution, current);
  const isLive = !FINAL.has(execution.status);
  const span = spanOf(execution, rows, isLive ? current : null);
  const axis = zoomed(place.value.query.get("zoom"), span.axis);
  const isAll = axis.from === span.axis.from && axis.until === span.axis.until;
  const { from, until } = isAll ? span : axis;
  const isShown = (at: number | null): at is number => at !== null && at >= axis.from && at <= axis.until;
  const deadline = span.deadline !== null && span.deadline <= axis.until ? span.deadline : null;
  const x = (at: number) => positionOn(axis, at);
  const text = until - from < SHORT_MS ? clockSeconds : when;
  return (
    <section class="card" aria-label="Timeline">
      <header>
        <h2>Timeline</h2>
        <span class="note">
          {text(new Date(from))} to {text(new Date(until))}
        </span>
        <Legend rows={rows} />
        <ZoomButtons axis={axis} all={span.axis} />
      </header>
      <div class="timeline-steps">
        <Events execution={execution} isOwn />
      </div>
      <svg width="0" height="0" class="visually-hidden" aria-hidden="true">
        <pattern id={hatch} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" class="wait-ground" />
          <rect width="2" height="6" class="wait-line" />
        </pattern>
      </svg>
      <div class="timeline body">
        <Head
          axis={axis}
          current={isLive && isShown(current) ? current : null}
          deadline={isShown(deadline) ? deadline : null}
        />
        <ol>
          {rows.map((row) => (
            <li key={row.name}>
              <span class={`part hue-of-${row.status}`} title={words(row.status)}>
                <Icon name={row.status as IconName} label={words(row.status)} />
                <span>{row.name}</span>
              </span>
              <svg
                width="100%"
                height={ROW}
                role="img"
                aria-label={inWords(row, until - from < HOUR_MS ? clockSeconds : clock)}
              >
                {deadline !== null && (
                  <rect x={`${x(deadline)}%`} width={`${100 - x(deadline)}%`} height={ROW} class="late-ground" />
                )}
                {marksOf(axis.from, axis.until, offsetOf(now.value)).map((mark) => (
                  <Line key={mark.at} at={mark.percent} class="grid-line" />
                ))}
                <Bars row={shownOf(row, axis)} x={x} hatch={`url(#${hatch})`} />
                {isShown(deadline) && <Line at={x(deadline)} class="tick is-deadline" />}
                {isLive && isShown(current) && <Line at={x(current)} class="tick" />}
              </svg>
              <span class="number">{row.percent === null ? "" : `${Math.round(row.percent)}%`}</span>
              <span class="number dim">
                {row.started ? duration(((row.ended ?? Math.max(current, row.started)) - row.started) / 1000) : "–"}
              </span>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** From the first to the last instant that is shown, and to the deadline if it is near. */
function spanOf({ deadline }: Execution, rows: Row[], current: number | null) {
  const instants = [
    ...rows.flatMap((row) => row.segments.flatMap((one) => [one.from, one.to])),
    ...rows.flatMap((row) => row.points.map((one) => one.at)),
    ...rows.flatMap((row) => (row.p95 === null ? [] : [row.p95])),
    ...(current === null ? [] : [current]),
  ];
  const from = Math.min(...instants);
  const end = Math.max(...instants, from + 1000);
  const wanted = deadline ? Date.parse(deadline.at) : null;
  const at = wanted !== null && wanted > from && isNear(wanted, from, end) ? wanted : null;
  const until = Math.max(end, at ?? 0);
  const margin = (until - from) * MARGIN;
  const axis: Axis = { from: from - margin / 2, until: until + margin };
  return { axis, from, until, deadline: at };
}

function Line({ at, class: className }: { at: number; class: string }) {
  return <line x1={`${at}%`} x2={`${at}%`} y1="0" y2={ROW} class={className} />;
}
