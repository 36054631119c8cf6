/** The slots of the long lane that were held. */

import type { CalendarJob } from "../../api/types";
import type { Day } from "../../format/days";
import type { Level } from "../../format/slot-levels";

/** The most slots of each day: held before now, in demand after it. */
export function peaksOf(levels: Level[], days: { day: Day; from: number; to: number }[]): Map<Day, number> {
  const peaks = new Map<Day, number>();
  for (const { day, from, to } of days) {
    const before = levels.filter((one) => one.at <= from).at(-1)?.tasks ?? 0;
    const within = levels.filter((one) => one.at > from && one.at < to).map((one) => one.tasks);
    peaks.set(day, Math.max(before, ...within));
  }
  return peaks;
}

/** How many slots the executions of these jobs held: a step at each start and end. */
export function usageOf(jobs: CalendarJob[], from: number, to: number): Level[] {
  if (to <= from) return [];
  const steps: Level[] = [];
  for (const job of jobs) {
    if (job.lane !== "long") continue;
    for (const entry of job.entries) {
      if (!entry.started_at) continue;
      const tasks = entry.tasks ?? 1;
      const begin = Math.max(from, Date.parse(entry.started_at));
      const end = Math.min(to, entry.ended_at ? Date.parse(entry.ended_at) : to);
      if (end > begin) steps.push({ at: begin, tasks }, { at: end, tasks: -tasks });
    }
  }
  steps.sort((one, other) => one.at - other.at);
  const levels: Level[] = [{ at: from, tasks: 0 }];
  let tasks = 0;
  for (const step of steps) {
    levels.push({ at: step.at, tasks });
    tasks += step.tasks;
    levels.push({ at: step.at, tasks });
  }
  levels.push({ at: to, tasks });
  return levels;
}
