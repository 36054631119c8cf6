/** What happened to an execution, in order: due, waits with their reasons, attempts, preemptions, end. */

import type { Execution, TimelineEvent } from "../../api/types";
import { Icon, type IconName } from "../../components/icon";
import { Link } from "../../components/link";
import { Empty } from "../../components/states";
import { Time } from "../../components/time";
import { now } from "../../state/clock";
import { partNames, reasonOf, sentence } from "./timeline/words";

const ICONS: Record<TimelineEvent["kind"], IconName> = {
  requested: "user",
  due: "scheduled",
  queued: "queued",
  waited: "waiting",
  attempt: "running",
  preempted: "paused",
  stopping: "cancelled",
  ended: "flag",
};

interface Props {
  execution: Execution;
  /** Only what happened to the whole execution, not to one of several parts. */
  isOwn?: boolean;
}

export function Events({ execution, isOwn = false }: Props) {
  const names = partNames(execution);
  const all = execution.events ?? [];
  const events = isOwn ? all.filter((event) => !event.part || event.part === "all") : all;
  if (events.length === 0) {
    if (isOwn) return null;
    return <Empty title="Nothing has happened yet" />;
  }
  return (
    <ol class="list-rows">
      {events.map((event, position) => (
        <li key={`${event.kind}-${event.at}-${event.part}-${position}`} class="event">
          <Icon name={ICONS[event.kind]} />
          <span class="dim">{event.at ? <Time at={event.at} jobZone={execution.timezone} /> : "Not recorded"}</span>
          <span>
            {sentence(event, now.value.getTime(), names)}
            {reasonOf(event) && <span class="dim"> {reasonOf(event)}</span>}
          </span>
          {event.worker_id && !isOwn && (
            <Link to={`/executions?worker_id=${encodeURIComponent(event.worker_id)}`} class="mono dim worker">
              {event.worker_id}
            </Link>
          )}
        </li>
      ))}
    </ol>
  );
}
