/** The forecast against the deadline: now, median end, P95 end, deadline; hatched red past the deadline. */

import { useId } from "preact/hooks";
import type { Deadline } from "../api/types";
import { duration } from "../format/duration";
import { clock, when } from "../format/time";
import { now } from "../state/clock";
import { type Axis, axisOf, positionOn } from "./deadline-axis";

const HEIGHT = 34;
const BAR = { y: 18, height: 10 };
/** Percentages of the width that the labels above the bar need on a phone. */
const DEADLINE_LABEL = 45;
const BOTH_LABELS = 68;

interface Props {
  deadline: Deadline;
  startedAt?: string | null | undefined;
  /** The axis that several bars share. By default, it spans this bar. */
  axis?: Axis | undefined;
  /** Without the labels: a table shows them in its header and its other columns. */
  isCompact?: boolean;
}

export function DeadlineBar({ deadline, startedAt, axis, isCompact = false }: Props) {
  const hatch = useId();
  const isUnknown = !deadline.median_end || !deadline.p95_end;
  if (isUnknown && !isCompact) return <p class="note">No forecast: too few runs.</p>;
  const current = now.value.getTime();
  const { from, until } = axis ?? axisOf([{ deadline, startedAt }], current);
  const x = (at: number) => positionOn({ from, until }, at);
  const at = Date.parse(deadline.at);
  const median = Date.parse(deadline.median_end ?? deadline.at);
  const p95 = Date.parse(deadline.p95_end ?? deadline.at);
  const start = startedAt ? Math.max(from, Date.parse(startedAt)) : Math.max(from, current);
  const late = p95 - at;
  const text = `Median end ${when(new Date(median))}, ${spare(at - median)}`;
  const worst = `P95 ${when(new Date(p95))}, ${spare(-late)}`;
  const isEnd = x(at) >= DEADLINE_LABEL;
  return (
    <figure class="deadline-bar">
      <svg
        width="100%"
        height={HEIGHT}
        role="img"
        aria-label={`Deadline ${when(new Date(at))}. ${isUnknown ? "No forecast" : `${text}. ${worst}`}.`}
      >
        <defs>
          <pattern id={hatch} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" class="late-ground" />
            <rect width="3" height="6" class="late-line" />
          </pattern>
        </defs>
        <Span from={0} to={100} class="track" />
        {!isUnknown && <Span from={x(current)} to={x(Math.min(p95, at))} class="possible" />}
        {!isUnknown && <Span from={x(current)} to={x(Math.min(median, at))} class="expected" />}
        {startedAt && <Span from={x(start)} to={x(current)} class="fill-live" />}
        {late > 0 && <Span from={x(Math.max(at, from))} to={x(p95)} fill={`url(#${hatch})`} />}
        {startedAt && <Tick at={x(current)} from={BAR.y - 3} to={BAR.y + BAR.height + 3} />}
        {!isUnknown && <Tick at={x(median)} from={BAR.y - 3} to={BAR.y + BAR.height + 3} />}
        {axis && <line x1={`${x(current)}%`} x2={`${x(current)}%`} y1="4" y2={HEIGHT} class="now-line" />}
        <Tick at={x(at)} from={2} to={HEIGHT} class="is-deadline" />
        {x(at) < 100 && (
          <svg x={`${x(at)}%`} y="2" class="flag-place" aria-hidden="true">
            <path d="M0 0h8l-2 3 2 3H0z" class="deadline-flag" />
          </svg>
        )}
        {!isCompact && isEnd && x(at) - x(current) >= BOTH_LABELS && (
          <text x={`${x(current)}%`} y="11" class="bar-label">
            Now {clock(new Date(current))}
          </text>
        )}
        {!isCompact && (
          <text
            x={`${x(at)}%`}
            dx={isEnd ? -6 : 12}
            y="11"
            text-anchor={isEnd ? "end" : "start"}
            class="bar-label is-strong"
          >
            Deadline {when(new Date(at))}
          </text>
        )}
      </svg>
      {!isCompact && (
        <figcaption>
          <span>{text}</span>
          <span class={late > 0 ? "hue-bad" : undefined}>{worst}</span>
        </figcaption>
      )}
    </figure>
  );
}

function spare(milliseconds: number): string {
  const text = duration(Math.round(Math.abs(milliseconds) / 1000));
  return milliseconds >= 0 ? `${text} to spare` : `${text} late`;
}

function Span({ from, to, ...rest }: { from: number; to: number; class?: string; fill?: string }) {
  if (to <= from) return null;
  return <rect x={`${from}%`} width={`${to - from}%`} y={BAR.y} height={BAR.height} rx="2" {...rest} />;
}

function Tick({ at, from, to, class: className }: { at: number; from: number; to: number; class?: string }) {
  if (at >= 100) return null; // beyond the axis that several bars share
  return <line x1={`${at}%`} x2={`${at}%`} y1={from} y2={to} class={`tick ${className ?? ""}`} />;
}
