/** How many executions ended per quarter of an hour, failures in red with their number. */

import type { Summary } from "../../api/types";
import { marksOf } from "../../components/axis-marks";
import { count } from "../../format/duration";
import { clock, offsetOf, when } from "../../format/time";
import { now } from "../../state/clock";
import { failureLabels, failuresOf, ticksOf } from "./ended";

const TOP = 16;
const HEIGHT = 120;
/** The share of a column that is a gap. */
const FILLED = 0.8;

export function EndedChart({ buckets }: { buckets: Summary["items"] }) {
  const total = buckets.reduce((sum, one) => sum + one.total, 0);
  const failed = buckets.reduce((sum, one) => sum + failuresOf(one), 0);
  const ticks = ticksOf(Math.max(...buckets.map((one) => one.total), 1));
  const most = ticks.at(-1) ?? 1;
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (!first || !last) return null;
  const step = 100 / buckets.length;
  const y = (value: number) => TOP + HEIGHT - (value / most) * HEIGHT;
  const marks = marksOf(Date.parse(first.start), Date.parse(last.end), offsetOf(now.value));
  return (
    <section class="card narrow-hidden">
      <header>
        <h2>Ended</h2>
        <span class="note">executions per 15 min, last 24 h</span>
        <span class="legend note aside">
          <i class="fill-idle" /> Ended {count(total)}
          <i class="fill-bad" /> Failed {count(failed)}
        </span>
      </header>
      <figure class="body ended-chart">
        <div class="ended-scale note" aria-hidden="true">
          {/* biome-ignore lint/a11y/noSvgWithoutTitle: the scale is hidden, the chart has a label */}
          <svg width="100%" height={TOP + HEIGHT + 20}>
            {ticks.map((tick) => (
              <text key={tick} x="100%" y={y(tick) + 4} text-anchor="end" class="bar-label">
                {count(tick)}
              </text>
            ))}
          </svg>
        </div>
        <svg
          width="100%"
          height={TOP + HEIGHT + 20}
          role="img"
          aria-label={`${count(total)} executions ended in the last 24 hours, ${count(failed)} failed; ${count(last.total)} in the current quarter of an hour`}
        >
          {ticks.map((tick) => (
            <line key={tick} x1="0" x2="100%" y1={y(tick)} y2={y(tick)} class="grid-line" />
          ))}
          {buckets.map((one, position) => (
            <Column key={one.start} bucket={one} x={position * step} width={step * FILLED} y={y} />
          ))}
          {failureLabels(buckets).map(({ position, failed: number }) => (
            <text
              key={position}
              x={`${(position + FILLED / 2) * step}%`}
              y={y(Math.max(...buckets.slice(Math.max(0, position - 2), position + 3).map((one) => one.total))) - 4}
              text-anchor={position > buckets.length - 4 ? "end" : "middle"}
              class="bar-label hue-bad"
              fill="currentColor"
            >
              {count(number)}
            </text>
          ))}
          {marks.map((mark) => (
            <text key={mark.at} x={`${mark.percent}%`} y={TOP + HEIGHT + 16} text-anchor="middle" class="bar-label">
              {clock(new Date(mark.at))}
            </text>
          ))}
        </svg>
      </figure>
    </section>
  );
}

interface ColumnProps {
  bucket: Summary["items"][number];
  x: number;
  width: number;
  y: (value: number) => number;
}

function Column({ bucket, x, width, y }: ColumnProps) {
  const failed = failuresOf(bucket);
  const at = { x: `${x}%`, width: `${width}%` };
  return (
    <g>
      <title>
        {when(new Date(bucket.start))}: {count(bucket.total)} ended, {count(failed)} failed
      </title>
      <rect {...at} y={y(bucket.total)} height={y(0) - y(bucket.total)} class="column-ended" />
      {failed > 0 && (
        <rect {...at} y={Math.min(y(failed), y(0) - 3)} height={Math.max(3, y(0) - y(failed))} class="fill-bad" />
      )}
    </g>
  );
}
