/** The executions that hold slots, least laxity first: the last one would be preempted first. */

import { Link } from "../../components/link";
import { Mark } from "../../components/status";
import { Time } from "../../components/time";
import { coarse, count } from "../../format/duration";
import { withQuery } from "../../router";
import { mayManage } from "../../state/me";
import type { Holder } from "./holders";

export function Holding({ holders }: { holders: Holder[] }) {
  return (
    <section class="card">
      <header>
        <h2>Runs now</h2>
        <span class="note">least laxity first</span>
      </header>
      {holders.length === 0 ? (
        <p class="body dim">No part holds a slot.</p>
      ) : (
        <table class="table is-cards" aria-label="Runs now">
          <thead>
            <tr>
              <th scope="col">Execution</th>
              <th scope="col" class="number">
                Slots
              </th>
              <th scope="col">Done</th>
              <th scope="col">Since</th>
              <th scope="col">Ends about</th>
              <th scope="col">Can wait</th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {holders.map((one) => (
              <Row key={one.executionId} holder={one} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ holder }: { holder: Holder }) {
  const { laxitySeconds: laxity } = holder;
  return (
    <tr>
      <td>
        <Link to={`/executions/${holder.executionId}`} class="name">
          {holder.name}
        </Link>
        <span class="note">
          {holder.owner}
          {holder.stopping && `, stops: ${holder.stopping}`}
        </span>
      </td>
      <td class="number" data-title="Slots">
        {count(holder.parts.length)}
      </td>
      <td data-title="Done">
        {holder.percent === null ? <span class="dim">Unknown</span> : <Done percent={holder.percent} />}
      </td>
      <td data-title="Since">
        <Time at={holder.since} jobZone={holder.timezone} />
      </td>
      <td data-title="Ends about">
        <Time at={holder.until} jobZone={holder.timezone} />
      </td>
      <td data-title="Can wait">
        {laxity > 0 ? (
          coarse(laxity)
        ) : (
          <Mark hue={laxity < 0 ? "bad" : "warn"} icon={laxity < 0 ? "will_miss" : "at_risk"}>
            Not at all{laxity < 0 && `, ${coarse(-laxity)} late`}
          </Mark>
        )}
      </td>
      <td class="number">
        {holder.isPreemptible && mayManage(holder.owner) && (
          <Link to={withQuery({ do: holder.executionId })} class="button">
            Make room…
          </Link>
        )}
      </td>
    </tr>
  );
}

const WIDTH = 72;

function Done({ percent }: { percent: number }) {
  return (
    <span class="mark">
      <svg width={WIDTH} height="6" aria-hidden="true">
        <rect width={WIDTH} height="6" rx="3" class="track" />
        <rect width={(Math.min(100, percent) / 100) * WIDTH} height="6" rx="3" class="fill-live" />
      </svg>
      <span>{Math.round(percent)}%</span>
    </span>
  );
}
