/** The queues: depth, rates, and the time to drain against its limit. */

import type { Queue, Queues } from "../../api/types";
import { Gauge } from "../../components/gauge";
import { Loaded } from "../../components/states";
import { Time } from "../../components/time";
import { coarse, count } from "../../format/duration";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";

export function QueuesView() {
  useTitle("Queues");
  const queues = useResource<Queues>("/queues");
  return (
    <Loaded what="Queues" of={queues}>
      {(data) => (
        <section class="card">
          <header>
            <h1 class="as-section">{verdict(data.items)}</h1>
            <span class="note aside">
              as of <Time at={data.at} />
            </span>
          </header>
          <div class="scroll">
            <table class="table" aria-label="Queues">
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
                    In a minute
                  </th>
                  <th scope="col" class="number">
                    Out a minute
                  </th>
                  <th scope="col">To drain</th>
                </tr>
              </thead>
              <tbody>
                {data.items.map((queue) => (
                  <tr key={queue.queue}>
                    <td class="strong">{queue.queue}</td>
                    <td class="number">{queue.depth === null ? "Unknown" : count(queue.depth)}</td>
                    <td class="number">{queue.oldest_seconds ? coarse(queue.oldest_seconds) : "–"}</td>
                    <td class="number">{rate(queue.arrival_per_minute)}</td>
                    <td class="number">{rate(queue.finished_per_minute)}</td>
                    <td>
                      <Gauge queue={queue} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </Loaded>
  );
}

function rate(value: number | null | undefined): string {
  return value == null ? "Unknown" : count(Math.round(value * 10) / 10);
}

function verdict(queues: Queue[]): string {
  const over = queues.filter((one) => one.minutes_until_breach !== null);
  if (over.length) return `Over a limit, now or soon: ${over.map((one) => one.queue).join(", ")}`;
  return queues.some((one) => one.depth) ? "All queues drain within their limit" : "No message waits";
}
