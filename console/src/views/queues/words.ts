/** What the view of the queues says. */

import type { Queue, QueueJob } from "../../api/types";
import { coarse, count, plural } from "../../format/duration";

export function rate(value: number | null | undefined): string {
  return value == null ? "Unknown" : count(Math.round(value * 10) / 10);
}

/** `normal is over its limit in 14 min`: the most urgent one first. */
export function verdict(queues: Queue[]): { text: string; isDanger: boolean } {
  const inDanger = queues
    .filter((one) => one.minutes_until_breach !== null)
    .sort((one, other) => (one.minutes_until_breach ?? 0) - (other.minutes_until_breach ?? 0));
  const [first, ...more] = inDanger;
  if (first) {
    const minutes = first.minutes_until_breach ?? 0;
    const text =
      minutes > 0 ? `${first.queue} is over its limit in ${coarse(minutes * 60)}` : `${first.queue} is over its limit`;
    return { text: more.length ? `${text}, and ${more.map((one) => one.queue).join(", ")}` : text, isDanger: true };
  }
  const waits = queues.some((one) => one.depth);
  return { text: waits ? "All queues drain within their limit" : "No message waits", isDanger: false };
}

/** A minute's arrivals against what is usual at this hour: `4 times the usual 14`. */
export function againstUsual(now: number | null | undefined, usual: number | null | undefined): string {
  if (now == null || usual == null) return "usual rate unknown";
  const text = `usual ${rate(usual)}`;
  const times = usual > 0 ? now / usual : 0;
  return times >= 1.5 ? `${rate(times)} times the ${text}` : text;
}

/** `500 messages, 30 min`. */
export function limitsInWords(limits: QueueJob["backlog"]): string {
  const parts: string[] = [];
  if (limits?.messages) parts.push(plural(limits.messages, "message"));
  if (limits?.minutes) parts.push(coarse(limits.minutes * 60));
  return parts.join(", ");
}

const GAP_MS = 15 * 60_000;

interface Point {
  at: string;
  depth: number | null;
}

/** The samples, with an unknown one where some are missing: the line breaks there. */
export function withGaps(points: Point[]): Point[] {
  return points.flatMap((point, position) => {
    const before = points[position - 1];
    if (!before || Date.parse(point.at) - Date.parse(before.at) <= GAP_MS) return [point];
    return [{ at: new Date(Date.parse(before.at) + 1).toISOString(), depth: null }, point];
  });
}
