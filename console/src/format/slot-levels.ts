/** The demand for slots of the long lane over time, and where it exceeds their number. */

import type { LaneHour } from "../api/types";

export interface Level {
  at: number;
  tasks: number;
}

const HOUR_MS = 3_600_000;

/** The average demand of each hour within the range, at the middle of the hour, and at both ends of the range. */
export function demandOf(hours: LaneHour[], from: number, to: number): Level[] {
  const all = hours.map((hour) => ({ at: Date.parse(hour.at) + HOUR_MS / 2, tasks: hour.mean_tasks }));
  const levels = all.filter((level) => level.at + HOUR_MS / 2 > from && level.at - HOUR_MS / 2 < to);
  const [first, last] = [levels[0], levels.at(-1)];
  if (!first || !last) return [];
  const begin = { at: Math.max(from, first.at - HOUR_MS / 2), tasks: first.tasks };
  const end = { at: Math.min(to, last.at + HOUR_MS / 2), tasks: last.tasks };
  return [begin, ...levels.filter((level) => level.at > begin.at && level.at < end.at), end];
}

export interface Excess {
  from: number;
  to: number;
  peak: number;
}

/** The periods in which the demand exceeds the limit. */
export function overLimit(demand: Level[], limit: number): Excess[] {
  const found: Excess[] = [];
  let last: Excess | null = null;
  for (const level of demand) {
    if (level.tasks <= limit) {
      last = null;
    } else if (last) {
      last.to = level.at + HOUR_MS / 2;
      last.peak = Math.max(last.peak, level.tasks);
    } else {
      last = { from: level.at - HOUR_MS / 2, to: level.at + HOUR_MS / 2, peak: level.tasks };
      found.push(last);
    }
  }
  return found;
}
