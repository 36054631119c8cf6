import { FINAL } from "./final";
import type { Row } from "./timeline-rows";

interface Props {
  row: Row;
  /** The percentage of the width at which an instant is. */
  x: (at: number) => number;
  current: number;
  /** The pattern of waits. */
  hatch: string;
}

/** Waits are hatched, what ran is solid, the forecast is dashed. */
export function Bars({ row, x, current, hatch }: Props) {
  const isFinal = FINAL.has(row.status);
  const end = row.ended ?? (isFinal ? current : null);
  const failed = row.attempts.filter((attempt) => attempt.outcome !== "succeeded" && attempt.started_at);
  const runsFrom = Math.max(row.started ?? current, ...failed.map((attempt) => Date.parse(attempt.ended_at)));
  const hue = row.status === "succeeded" ? "ok" : isFinal ? "bad" : "live";
  return (
    <>
      <Bar from={x(row.from)} to={x(row.started ?? end ?? current)} class="is-wait" fill={hatch} />
      {failed.map((attempt) => (
        <Bar
          key={attempt.number}
          from={x(Date.parse(attempt.started_at ?? ""))}
          to={x(Date.parse(attempt.ended_at))}
          class="fill-bad"
        />
      ))}
      {row.started && row.status !== "retrying" && (
        <Bar from={x(runsFrom)} to={x(end ?? current)} class={`fill-${hue}`} />
      )}
      {row.forecast && row.forecast > current && (
        <Bar from={x(Math.max(current, row.forecastFrom ?? current))} to={x(row.forecast)} class="is-forecast" />
      )}
    </>
  );
}

const LEAST = 0.3;

function Bar({ from, to, ...rest }: { from: number; to: number; class: string; fill?: string }) {
  if (to <= from) return null;
  return <rect x={`${from}%`} y="5" width={`${Math.max(LEAST, to - from)}%`} height="10" rx="2" {...rest} />;
}
