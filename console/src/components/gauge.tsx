/** The time to drain a queue, against its limit. */

import type { Queue } from "../api/types";
import { coarse } from "../format/duration";

const WIDTH = 200;
/** The share of the gauge that the limit takes. */
const AT_LIMIT = 0.85;

interface Props {
  queue: Queue;
  /** Whether another column says when the limit is reached. */
  hasBreachColumn?: boolean;
}

export function Gauge({ queue, hasBreachColumn = false }: Props) {
  const { drain_minutes: minutes, limit_minutes: limit } = queue;
  if (queue.depth === 0) return <span>at once</span>;
  if (minutes === null) return <span class="dim">Unknown until something has run</span>;
  const filled = Math.min(1, (minutes / limit) * AT_LIMIT) * WIDTH;
  const breach = queue.minutes_until_breach;
  const hue = minutes >= limit ? "bad" : breach !== null ? "warn" : "live";
  const text = `${coarse(minutes * 60)} to drain, limit ${coarse(limit * 60)}`;
  return (
    <span class="gauge">
      <svg viewBox={`0 0 ${WIDTH} 16`} width={WIDTH} height="16" role="img" aria-label={`${queue.queue}: ${text}`}>
        <rect y="5" width={WIDTH} height="6" rx="3" class="track" />
        <rect y="5" width={filled} height="6" rx="3" class={`fill-${hue}`} />
        <path d={`M${WIDTH * AT_LIMIT} 0v16`} class="tick" />
      </svg>
      <span class={hue === "live" ? undefined : `hue-${hue}`}>
        {text}
        {!hasBreachColumn && breach !== null && minutes < limit && `, over it in ${coarse(breach * 60)}`}
      </span>
    </span>
  );
}
