import type { Part } from "../../api/types";
import { ExecutionStatus } from "../../components/status";
import { now } from "../../state/clock";

/** How long a part has run, or ran. */
export function secondsOf({ started_at: from, ended_at: until }: Part): number | null {
  if (!from) return null;
  return Math.max(0, ((until ? Date.parse(until) : now.value.getTime()) - Date.parse(from)) / 1000);
}

export function PartStatus({ part }: { part: Part }) {
  const percent = part.progress && part.status !== "succeeded" ? `${Math.round(part.progress.percent)}%` : undefined;
  return <ExecutionStatus status={part.status} detail={percent} />;
}
