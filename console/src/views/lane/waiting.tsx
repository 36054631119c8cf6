/** The parts that wait for a slot, in the order of admission. */

import type { LanePart } from "../../api/types";
import { Link } from "../../components/link";
import { ExecutionStatus, Mark } from "../../components/status";
import { Relative, Time } from "../../components/time";
import { count } from "../../format/duration";
import { now } from "../../state/clock";
import { partName } from "./holders";

export function Waiting({ parts, total }: { parts: LanePart[]; total: number }) {
  return (
    <section class="card">
      <header>
        <h2>Waits</h2>
        <span class="note">least laxity first</span>
        {total > parts.length && (
          <span class="note aside">
            the first {count(parts.length)} of {count(total)}
          </span>
        )}
      </header>
      {parts.length === 0 ? (
        <p class="body dim">No part waits for a slot.</p>
      ) : (
        <table class="table is-cards" aria-label="Waits">
          <thead>
            <tr>
              <th scope="col" class="number">
                #
              </th>
              <th scope="col">Part</th>
              <th scope="col">Status</th>
              <th scope="col">Latest safe start</th>
              <th scope="col">Waits for</th>
              <th scope="col">Starts about</th>
              <th scope="col">Ends about</th>
            </tr>
          </thead>
          <tbody>
            {parts.map((part, position) => (
              <Row key={part.execution_id + part.part} part={part} ahead={position} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ part, ahead }: { part: LanePart; ahead: number }) {
  const isLate = part.latest_start < part.expected_start || Date.parse(part.latest_start) < now.value.getTime();
  return (
    <tr>
      <td class="number narrow-hidden dim">{ahead + 1}</td>
      <td>
        <Link to={`/executions/${part.execution_id}`} class="name">
          {partName(part)}
        </Link>
        <span class="note">{part.owner}</span>
      </td>
      <td>
        <ExecutionStatus status={part.status} />
      </td>
      <td data-title="Latest safe start">
        {isLate ? (
          <Mark hue="warn" icon="at_risk">
            <Time at={part.latest_start} jobZone={part.timezone} />
          </Mark>
        ) : (
          <Time at={part.latest_start} jobZone={part.timezone} />
        )}
      </td>
      <td data-title="Waits for">{ahead === 0 ? "a slot" : `a slot, ${count(ahead)} ahead`}</td>
      <td data-title="Starts about">
        <span>
          <Time at={part.expected_start} jobZone={part.timezone} />{" "}
          <span class="dim">
            <Relative at={part.expected_start} />
          </span>
        </span>
      </td>
      <td data-title="Ends about">
        <Time at={part.expected_end} jobZone={part.timezone} />
      </td>
    </tr>
  );
}
