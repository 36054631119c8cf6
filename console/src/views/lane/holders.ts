/** The executions that hold slots: their parts together. */

import type { LanePart } from "../../api/types";

export interface Holder {
  executionId: string;
  name: string;
  owner: string;
  timezone: string;
  parts: LanePart[];
  /** When the first of its parts got a slot. */
  since: string | null;
  /** When the last of its parts is expected to end. */
  until: string;
  /** How long each of its parts could wait: the least of them. */
  laxitySeconds: number;
  /** Of the parts that report progress, the mean. */
  percent: number | null;
  isPreemptible: boolean;
  /** Why parts of it were asked to release their slots. */
  stopping: string | null;
}

/** In the order of the lane: least laxity first. */
export function holdersOf(holding: LanePart[]): Holder[] {
  const byExecution = new Map<string, LanePart[]>();
  for (const part of holding) byExecution.set(part.execution_id, [...(byExecution.get(part.execution_id) ?? []), part]);
  return [...byExecution].map(([executionId, parts]) => {
    const first = parts[0] as LanePart;
    const percents = parts.flatMap((part) => (part.progress ? [part.progress.percent] : []));
    const granted = parts.flatMap((part) => (part.granted_at ? [part.granted_at] : [])).sort();
    return {
      executionId,
      name: nameOf(first),
      owner: first.owner,
      timezone: first.timezone,
      parts,
      since: granted[0] ?? null,
      until: parts
        .map((part) => part.expected_end)
        .sort()
        .at(-1) as string,
      laxitySeconds: Math.min(...parts.map((part) => part.laxity_seconds)),
      percent: percents.length ? percents.reduce((sum, one) => sum + one, 0) / percents.length : null,
      isPreemptible: parts.some((part) => part.preemptible && part.granted_at !== null && !part.stopping),
      stopping: parts.find((part) => part.stopping)?.stopping ?? null,
    };
  });
}

export function nameOf(part: LanePart): string {
  return part.job_name ?? part.job_id;
}

/** `refunds-week, part 3`. */
export function partName(part: LanePart): string {
  if (part.part === "all") return nameOf(part);
  return `${nameOf(part)}, ${part.part === "collect" ? "final step" : `part ${Number(part.part)}`}`;
}

/** When the next slot is expected to become free; null if one is free. */
export function nextSlotAt(holding: LanePart[], isFull: boolean): string | null {
  return isFull ? (holding.map((part) => part.expected_end).sort()[0] ?? null) : null;
}
