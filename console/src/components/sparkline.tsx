/** The last executions of a job, oldest first: the height is the run time; a failure is red and has a foot. */

import type { RecentExecution } from "../api/types";
import { duration } from "../format/duration";
import { words } from "./status";

const BAR = 4;
const GAP = 2;
const HEIGHT = 20;
const FOOT = 3;
const BAD = new Set(["failed", "timed_out", "missed"]);

export function Sparkline({ executions }: { executions: RecentExecution[] }) {
  if (executions.length === 0) return <span class="dim">None yet</span>;
  const oldestFirst = [...executions].sort((one, other) => one.scheduled_at.localeCompare(other.scheduled_at));
  const longest = Math.max(...oldestFirst.map((one) => one.run_seconds ?? 0), 0.001);
  const failed = oldestFirst.filter((one) => BAD.has(one.status)).length;
  const last = oldestFirst.at(-1);
  const text = `Last ${oldestFirst.length}: ${failed} failed, latest ${words(last?.status ?? "").toLowerCase()}`;
  const width = oldestFirst.length * (BAR + GAP);
  return (
    <svg
      viewBox={`0 0 ${width} ${HEIGHT + FOOT}`}
      width={width}
      height={HEIGHT + FOOT}
      role="img"
      aria-label={last?.run_seconds ? `${text} after ${duration(last.run_seconds)}` : text}
    >
      {oldestFirst.map((one, position) => {
        const height = one.run_seconds === null ? 1 : Math.max(3, (one.run_seconds / longest) * HEIGHT);
        const x = position * (BAR + GAP);
        return (
          <g key={one.execution_id} class={BAD.has(one.status) ? "fill-bad" : "fill-idle"}>
            <rect x={x} y={HEIGHT - height} width={BAR} height={height} rx="1" />
            {BAD.has(one.status) && <rect x={x} y={HEIGHT + 1} width={BAR} height="2" />}
          </g>
        );
      })}
    </svg>
  );
}
