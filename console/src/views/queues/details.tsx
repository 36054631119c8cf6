/** A queue's last 24 hours against its limit. */

import type { Queue } from "../../api/types";
import { Chart, type Line } from "../../components/chart";
import { coarse, count } from "../../format/duration";
import { againstUsual, rate, withGaps } from "./words";

export function QueueDetails({ queue }: { queue: Queue }) {
  const { history } = queue;
  if (!history || history.points.length < 2) return <p class="dim">Its history begins with the next samples.</p>;
  const points = withGaps(history.points);
  const depths = points.map((one) => one.depth);
  const most = Math.max(...history.points.map((one) => one.depth));
  const limit = limitOf(queue);
  const lines: Line[] = [{ title: "Waiting", token: "live-fill", kind: "line", values: depths }];
  if (limit !== null && limit < most * 4)
    lines.push({ title: "Limit", token: "text", kind: "dashed", values: depths.map(() => limit) });
  return (
    <section>
      <h2>Depth, 24 h</h2>
      <p class="note">
        at most {count(most)}, limit {limit === null ? "unknown" : `about ${count(limit)}`} (
        {coarse(queue.limit_minutes * 60)} to drain); in {rate(queue.arrival_per_minute)} a minute,{" "}
        {againstUsual(queue.arrival_per_minute, history.usual_arrival_per_minute)}
      </p>
      <Chart
        label={`Depth of ${queue.queue} in the last 24 hours, at most ${count(most)}`}
        times={points.map((one) => Date.parse(one.at))}
        lines={lines}
        text={(value) => (Number.isInteger(value) ? count(value) : "")}
      />
    </section>
  );
}

/** The depth that takes the limit to drain, or the limit in messages if that is less. */
function limitOf(queue: Queue): number | null {
  if (queue.capacity_per_minute == null) return queue.limit_messages;
  return Math.min(queue.limit_messages, Math.round(queue.capacity_per_minute * queue.limit_minutes));
}
