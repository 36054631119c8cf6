/** How many executions ended per quarter of an hour, failures in red with their number. */

import type { Summary } from "../../api/types";
import { count } from "../../format/duration";
import { clock } from "../../format/time";

const WIDTH = 960;
const HEIGHT = 100;
const FOOT = 12;

export function EndedChart({ buckets }: { buckets: Summary["items"] }) {
  const most = Math.max(1, ...buckets.map((one) => one.total));
  const step = WIDTH / Math.max(1, buckets.length);
  const total = buckets.reduce((sum, one) => sum + one.total, 0);
  const failed = buckets.reduce((sum, one) => sum + failures(one), 0);
  const first = buckets[0];
  const last = buckets.at(-1);
  return (
    <section class="card narrow-hidden">
      <header>
        <h2>Ended</h2>
        <span class="note">executions per 15 min, last 24 h</span>
        <span class="note aside">
          {count(total)} ended, {count(failed)} failed; most {count(most)}
        </span>
      </header>
      <figure class="body">
        <svg
          class="columns-chart"
          viewBox={`0 0 ${WIDTH} ${HEIGHT + FOOT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${count(total)} executions ended in the last 24 hours, ${count(failed)} failed`}
        >
          {buckets.map((one, position) => {
            const height = (one.total / most) * HEIGHT;
            const bad = (failures(one) / most) * HEIGHT;
            return (
              <g key={one.start}>
                <rect x={position * step} y={HEIGHT - height} width={step * 0.8} height={height} class="fill-idle" />
                {bad > 0 && (
                  <>
                    <rect x={position * step} y={HEIGHT - bad} width={step * 0.8} height={bad} class="fill-bad" />
                    <rect x={position * step} y={HEIGHT + 4} width={step * 0.8} height="6" class="fill-bad" />
                  </>
                )}
              </g>
            );
          })}
        </svg>
        {first && last && (
          <figcaption class="axis note">
            <span>{clock(new Date(first.start))}</span>
            <span>{clock(new Date(last.end))}</span>
          </figcaption>
        )}
      </figure>
    </section>
  );
}

function failures(bucket: Summary["items"][number]): number {
  return (bucket.counts.failed ?? 0) + (bucket.counts.timed_out ?? 0);
}
