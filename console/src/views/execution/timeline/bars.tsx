/** The bars and marks of one row: waits are hatched, what ran is solid, the forecast is dashed. */

import type { ComponentChildren } from "preact";
import type { Point, Row, Segment } from "./rows";

const MIDDLE = 14;
const BAR = 10;
/** In percent of the width. */
const LEAST = 0.3;
/** Right of here, a label stands before its bar. */
const LABEL_FITS = 62;
const LABEL_ROOM = 30;

interface Props {
  row: Row;
  /** The percentage of the width at which an instant is. */
  x: (at: number) => number;
  /** The pattern of waits. */
  hatch: string;
}

export function Bars({ row, x, hatch }: Props) {
  return (
    <>
      {row.segments.map((one) => (
        <Bar key={`${one.kind}${one.from}`} segment={one} x={x} hatch={hatch} />
      ))}
      {row.p95 !== null && <Whisker row={row} p95={row.p95} x={x} />}
      {row.points.map((point) => (
        <Mark key={point.kind + point.at} point={point} x={x(point.at)} />
      ))}
      {row.label && <Label row={row} x={x} />}
    </>
  );
}

const CLASSES: Record<Segment["kind"], string> = {
  wait: "is-wait",
  runs: "fill-live",
  ok: "fill-ok",
  bad: "fill-bad",
  idle: "fill-idle",
  "expected-wait": "is-expected-wait",
  forecast: "is-forecast",
};

function Bar({ segment: { kind, from, to, said }, x, hatch }: Omit<Props, "row"> & { segment: Segment }) {
  const width = Math.max(LEAST, x(to) - x(from));
  const fill = kind === "wait" ? { fill: hatch } : {};
  return (
    <rect
      x={`${x(from)}%`}
      y={MIDDLE - BAR / 2}
      width={`${width}%`}
      height={BAR}
      rx="2"
      class={CLASSES[kind]}
      {...fill}
    >
      <title>{said}</title>
    </rect>
  );
}

/** From the median to the end that 95% of the forecasts keep. */
function Whisker({ row, p95, x }: { row: Row; p95: number; x: Props["x"] }) {
  const median = row.segments.find((one) => one.kind === "forecast")?.to;
  if (median === undefined || p95 <= median) return null;
  const end = `${x(p95)}%`;
  return (
    <g class="whisker">
      <line x1={`${x(median)}%`} x2={end} y1={MIDDLE} y2={MIDDLE} />
      <line x1={end} x2={end} y1={MIDDLE - 4} y2={MIDDLE + 4} />
    </g>
  );
}

const SHAPES: Partial<Record<Point["kind"], ComponentChildren>> = {
  due: <path d="M0 -5.5L5.5 0L0 5.5L-5.5 0z" class="point-due" />,
  requested: <path d="M0 -5.5L5.5 0L0 5.5L-5.5 0z" class="point-due" />,
  queued: <path d="M0 -8v16" class="point-queued" />,
  preempted: <path d="M-2 -8v16M2 -8v16" class="point-preempted" />,
  stopping: <rect x="-4" y="-4" width="8" height="8" rx="1" class="point-stopping" />,
  lease: <path d="M-3 -8H0V8H-3" class="point-lease" />,
};

function Mark({ point, x }: { point: Point; x: number }) {
  const shape = SHAPES[point.kind];
  if (!shape) return null;
  return (
    <svg x={`${x}%`} y={MIDDLE} class="point">
      <title>{point.said}</title>
      {shape}
    </svg>
  );
}

function Label({ row, x }: { row: Row; x: Props["x"] }) {
  if (row.segments.length === 0) return null;
  const first = x(Math.min(...row.segments.map((one) => one.from)));
  const last = x(Math.max(...row.segments.map((one) => one.to), row.p95 ?? 0));
  const isRight = last < LABEL_FITS;
  if (!isRight && first < LABEL_ROOM) return null;
  return (
    <text
      x={`${isRight ? last : first}%`}
      dx={isRight ? 8 : -8}
      y={MIDDLE + 4}
      text-anchor={isRight ? "start" : "end"}
      class={`bar-label hue-of-label-${row.status}`}
    >
      {row.label}
    </text>
  );
}
