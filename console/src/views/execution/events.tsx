/** What happened to an execution, in order: due, waits with their reasons, attempts, preemptions, end. */

import type { Execution } from "../../api/types";
import { Icon, type IconName } from "../../components/icon";
import { Empty } from "../../components/states";
import { words } from "../../components/status";
import { Time } from "../../components/time";
import { duration } from "../../format/duration";
import { now } from "../../state/clock";

type Event = NonNullable<Execution["events"]>[number];

const ICONS: Record<string, IconName> = {
  requested: "user",
  due: "scheduled",
  queued: "queued",
  waited: "waiting",
  attempt: "running",
  preempted: "skipped",
  stopping: "cancelled",
  ended: "flag",
};

export function Events({ execution }: { execution: Execution }) {
  const events = execution.events ?? [];
  if (events.length === 0) return <Empty title="Nothing has happened yet" />;
  return (
    <ol class="list-rows">
      {events.map((event, position) => (
        <li key={`${event.kind}-${event.at}-${event.part}-${position}`} class="event">
          <Icon name={ICONS[event.kind] ?? "scheduled"} />
          <span class="dim">{event.at ? <Time at={event.at} /> : "Not recorded"}</span>
          <span>
            {sentence(event)}
            {event.reason && <span class="dim"> {event.reason}</span>}
          </span>
          <span class="number dim">{event.at && lasted(event)}</span>
        </li>
      ))}
    </ol>
  );
}

/** `Attempt 2 of part Mon: failed`. */
export function sentence({ kind, attempt, part, outcome, until }: Event): string {
  const place = part && part !== "all" ? ` of part ${part}` : "";
  if (kind === "attempt") {
    const end = outcome ? `: ${words(outcome).toLowerCase()}` : until ? "" : ", runs";
    return `Attempt ${attempt ?? ""}${place}${end}`;
  }
  if (kind === "waited") return `${until ? "Waited" : "Waits"}${place}`;
  return `${words(kind)}${place}`;
}

function lasted({ kind, at, until }: Event): string {
  if (kind !== "waited" && kind !== "attempt") return "";
  return duration(((until ? Date.parse(until) : now.value.getTime()) - Date.parse(at ?? "")) / 1000);
}
