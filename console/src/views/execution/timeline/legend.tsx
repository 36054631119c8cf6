/** The legend of the timeline: the meaning of the bars and marks that are shown. */

import type { Point, Row, Segment } from "./rows";

const SEGMENTS: [Segment["kind"], string, string][] = [
  ["wait", "is-wait", "Waits"],
  ["runs", "fill-live", "Runs"],
  ["ok", "fill-ok", "Succeeded"],
  ["bad", "fill-bad", "Failed"],
  ["idle", "fill-idle", "Stopped"],
  ["forecast", "is-forecast", "Forecast"],
];
const POINTS: [Point["kind"], string, string][] = [
  ["due", "◆", "Due"],
  ["requested", "◆", "Requested"],
  ["queued", "❘", "Queued"],
  ["preempted", "‖", "Preempted"],
  ["stopping", "□", "Asked to stop"],
  ["lease", "]", "Lease"],
];

export function Legend({ rows }: { rows: Row[] }) {
  const segments = new Set(rows.flatMap((row) => row.segments.map((one) => one.kind)));
  const points = new Set(rows.flatMap((row) => row.points.map((one) => one.kind)));
  return (
    <span class="legend is-grouped aside note">
      {POINTS.filter(([kind]) => points.has(kind)).map(([kind, sign, text]) => (
        <span key={kind}>
          <b aria-hidden="true">{sign}</b> {text}
        </span>
      ))}
      {SEGMENTS.filter(([kind]) => segments.has(kind)).map(([kind, name, text]) => (
        <span key={kind}>
          <i class={name} /> {text}
        </span>
      ))}
    </span>
  );
}
