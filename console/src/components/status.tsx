/** A state as shape, word and colour. */

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon";

export type Hue = "idle" | "wait" | "live" | "ok" | "warn" | "bad";

const EXECUTION: Record<string, Hue> = {
  scheduled: "idle",
  queued: "idle",
  waiting: "wait",
  starting: "live",
  running: "live",
  retrying: "warn",
  succeeded: "ok",
  failed: "bad",
  timed_out: "bad",
  cancelled: "idle",
  skipped: "idle",
  missed: "bad",
};
const DEADLINE: Record<string, { icon: IconName; hue: Hue; isBadge: boolean }> = {
  on_track: { icon: "on_track", hue: "ok", isBadge: false },
  at_risk: { icon: "at_risk", hue: "warn", isBadge: true },
  will_miss: { icon: "will_miss", hue: "bad", isBadge: true },
  missed: { icon: "deadline_missed", hue: "bad", isBadge: true },
  met: { icon: "met", hue: "ok", isBadge: false },
};
const JOB: Record<string, { icon: IconName; hue: Hue }> = {
  active: { icon: "active", hue: "ok" },
  paused: { icon: "paused", hue: "warn" },
  done: { icon: "succeeded", hue: "idle" },
  cancelled: { icon: "cancelled", hue: "idle" },
  deleted: { icon: "close", hue: "idle" },
};

/** `Timed out` for `timed_out`. */
export function words(name: string): string {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** An execution's or a part's status. Success is quiet; only a status that needs attention is tinted. */
export function ExecutionStatus({ status, detail }: { status: string; detail?: string | undefined }) {
  const hue = EXECUTION[status] ?? "idle";
  return (
    <Mark hue={hue} icon={status in EXECUTION ? (status as IconName) : "scheduled"}>
      {words(status)}
      {detail ? ` ${detail}` : ""}
    </Mark>
  );
}

export function DeadlineStatus({
  state,
  probability,
  isOwnColumn = false,
}: {
  state: string;
  probability?: number | null | undefined;
  /** Whether the heading already says that this is a deadline. */
  isOwnColumn?: boolean;
}) {
  const shown = DEADLINE[state] ?? { icon: "on_track" as const, hue: "idle" as const, isBadge: false };
  const word = state === "missed" && !isOwnColumn ? "Deadline missed" : words(state);
  const chance =
    shown.isBadge && probability != null && state !== "missed" ? `, ${Math.round(probability * 100)}%` : "";
  const text = word + chance;
  return shown.isBadge ? (
    <Badge hue={shown.hue} icon={shown.icon}>
      {text}
    </Badge>
  ) : (
    <Mark hue={shown.hue} icon={shown.icon}>
      {text}
    </Mark>
  );
}

export function JobState({ state }: { state: string }) {
  const shown = JOB[state] ?? { icon: "active" as const, hue: "idle" as const };
  return (
    <Mark hue={shown.hue} icon={shown.icon}>
      {words(state)}
    </Mark>
  );
}

interface MarkProps {
  hue: Hue;
  icon: IconName;
  children: ComponentChildren;
}

export function Mark({ hue, icon, children }: MarkProps) {
  return (
    <span class={`mark hue-${hue}`}>
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  );
}

export function Badge({ hue, icon, children }: MarkProps) {
  return (
    <span class={`badge tint-${hue}`}>
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  );
}
