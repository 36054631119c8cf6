/** The forecast against the deadline: now, median end, P95 end, deadline; hatched red past the deadline. */

import type { Deadline } from "../api/types";
import { duration } from "../format/duration";
import { when } from "../format/time";
import { now } from "../state/clock";
import { Icon } from "./icon";

const WIDTH = 600;
const HEIGHT = 44;
const BAR = { y: 16, height: 10 };

export function DeadlineBar({ deadline, startedAt }: { deadline: Deadline; startedAt?: string | null | undefined }) {
  if (!deadline.median_end || !deadline.p95_end) return <p class="dim">Too few runs for a forecast.</p>;
  const start = new Date(startedAt ?? now.value).getTime();
  const at = new Date(deadline.at).getTime();
  const median = new Date(deadline.median_end).getTime();
  const p95 = new Date(deadline.p95_end).getTime();
  const from = Math.min(start, now.value.getTime());
  const until = Math.max(at, p95) + (Math.max(at, p95) - from) * 0.06;
  const x = (instant: number) => Math.max(0, Math.min(1, (instant - from) / (until - from))) * WIDTH;
  const late = p95 - at;
  const spare = at - median;
  const text = `Median end ${when(new Date(median))}, ${spare >= 0 ? `${duration(spare / 1000)} to spare` : `${duration(-spare / 1000)} late`}`;
  const worst = `P95 ${when(new Date(p95))}, ${late > 0 ? `${duration(late / 1000)} late` : `${duration(-late / 1000)} to spare`}`;
  return (
    <figure class="deadline-bar">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${text}. ${worst}.`}>
        <defs>
          <pattern id="late" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" class="late-ground" />
            <rect width="3" height="6" class="late-line" />
          </pattern>
        </defs>
        <rect x="0" y={BAR.y} width={WIDTH} height={BAR.height} rx="4" class="track" />
        <rect x={x(from)} y={BAR.y} width={x(median) - x(from)} height={BAR.height} rx="4" class="expected" />
        <rect
          x={x(median)}
          y={BAR.y}
          width={x(Math.min(p95, at)) - x(Math.min(median, at))}
          height={BAR.height}
          class="possible"
        />
        {late > 0 && <rect x={x(at)} y={BAR.y} width={x(p95) - x(at)} height={BAR.height} fill="url(#late)" />}
        <path d={`M${x(median)} ${BAR.y - 3}v${BAR.height + 6}`} class="tick" />
        <path d={`M${x(at)} 4v${HEIGHT - 10}`} class="tick is-deadline" />
      </svg>
      <figcaption>
        <span>{text}</span>
        <span class={late > 0 ? "hue-bad" : undefined}>{worst}</span>
        <span>
          <Icon name="flag" /> Deadline {when(new Date(at))}
        </span>
      </figcaption>
    </figure>
  );
}
