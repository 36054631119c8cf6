/** The queues: depth, rates, the time to drain against its limit; a row opens its last day. */

import type { Queue, Queues } from "../../api/types";
import { Gauge } from "../../components/gauge";
import { Icon } from "../../components/icon";
import { Link } from "../../components/link";
import { Loaded } from "../../components/states";
import { Mark } from "../../components/status";
import { Time } from "../../components/time";
import { coarse, count } from "../../format/duration";
import { place, withQuery } from "../../router";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { QueueDetails } from "./details";
import { Fillers } from "./fillers";
import { rate, verdict } from "./words";

/** The monitor samples once a minute. */
const EVERY_MS = 15_000;

export function QueuesView() {
  useTitle("Queues");
  const queues = useResource<Queues>("/queues?history=true", EVERY_MS);
  return (
    <Loaded what="Queues" of={queues}>
      {(data) => (
        <div class="stack">
          <section class="card">
            <header>
              <h1 class="as-section">
                <Verdict queues={data.items} />
              </h1>
              <span class="note aside">
                as of <Time at={data.at} />
              </span>
            </header>
            <table class="table is-cards" aria-label="Queues">
              <thead>
                <tr>
                  <th scope="col">Queue</th>
                  <th scope="col" class="number">
                    Waiting
                  </th>
                  <th scope="col" class="number">
                    Oldest
                  </th>
                  <th scope="col" class="number">
                    In/min
                  </th>
                  <th scope="col" class="number">
                    Out/min
                  </th>
                  <th scope="col">To drain</th>
                  <th scope="col">Breach</th>
                </tr>
              </thead>
              <tbody>
                {data.items.map((queue) => (
                  <QueueRow key={queue.queue} queue={queue} isOpen={openedOf(data.items) === queue.queue} />
                ))}
              </tbody>
            </table>
          </section>
          <Fillers queues={data} reload={queues.reload} />
        </div>
      )}
    </Loaded>
  );
}

/** The queue in the address; else the one in danger, so that its remedies are in sight. */
function openedOf(queues: Queue[]): string | null {
  const wanted = place.value.query.get("queue");
  if (wanted !== null) return wanted;
  return queues.find((one) => one.minutes_until_breach !== null)?.queue ?? null;
}

function Verdict({ queues }: { queues: Queue[] }) {
  const { text, isDanger } = verdict(queues);
  return isDanger ? (
    <Mark hue="warn" icon="at_risk">
      {text}
    </Mark>
  ) : (
    <span>{text}</span>
  );
}

function QueueRow({ queue, isOpen }: { queue: Queue; isOpen: boolean }) {
  return (
    <>
      <tr>
        <td class="strong">
          <Link to={withQuery({ queue: isOpen ? "none" : queue.queue })} class="queue-name" aria-expanded={isOpen}>
            <Icon name={isOpen ? "down" : "right"} />
            {queue.queue}
          </Link>
        </td>
        <td class="number" data-title="Waiting">
          {queue.depth === null ? <span class="dim">Unknown</span> : count(queue.depth)}
        </td>
        <td class="number" data-title="Oldest">
          {queue.oldest_seconds ? coarse(queue.oldest_seconds) : <span class="dim">None</span>}
        </td>
        <td class="number" data-title="In/min">
          {rate(queue.arrival_per_minute)}
        </td>
        <td class="number" data-title="Out/min">
          {rate(queue.finished_per_minute)}
        </td>
        <td data-title={queue.depth === 0 || queue.drain_minutes === null ? "To drain" : undefined}>
          <Gauge queue={queue} hasBreachColumn />
        </td>
        <td data-title="Breach">
          <Breach queue={queue} />
        </td>
      </tr>
      {isOpen && (
        <tr class="queue-details">
          <td colSpan={7}>
            <QueueDetails queue={queue} />
          </td>
        </tr>
      )}
    </>
  );
}

function Breach({ queue }: { queue: Queue }) {
  const minutes = queue.minutes_until_breach;
  if (minutes === null) return <span class="dim">None</span>;
  return (
    <Mark hue={minutes <= 0 ? "bad" : "warn"} icon={minutes <= 0 ? "will_miss" : "at_risk"}>
      {minutes <= 0 ? "Over its limit" : `in ${coarse(minutes * 60)}`}
    </Mark>
  );
}
