import type { Part } from "../../api/types";
import { day, when } from "../../format/time";

const DAY_MS = 86_400_000;
/** A day has 23 or 25 hours where clocks change. */
const CHANGE_MS = 2 * 3_600_000;

/** `Sun 8 Nov` for a part that covers a day in the zone of the job, `Sun 14:00` for an hour, otherwise `Part 3`. */
export function partName({ part, window }: Pick<Part, "part" | "window">, timezone: string): string {
  if (part === "collect") return "Collect";
  if (part === "all") return "Execution";
  if (!window) return `Part ${Number(part)}`;
  const start = new Date(window.start);
  const isDay = Math.abs(Date.parse(window.end) - start.getTime() - DAY_MS) <= CHANGE_MS;
  return isDay ? day(start, new Date(), timezone) : when(start);
}
