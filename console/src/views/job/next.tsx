/** The next ten due instants, in the viewer's zone, the job's zone and UTC, with clock changes. */

import type { Instant, JobDetail } from "../../api/types";
import { Icon } from "../../components/icon";
import { Relative, Time } from "../../components/time";
import { cityOf, clock } from "../../format/time";

export function NextInstants({ job }: { job: JobDetail }) {
  const items = job.state === "active" ? job.next : null;
  if (!items?.length) return null;
  return (
    <section class="card">
      <header>
        <h2>Next ten</h2>
        <span class="note aside">{cityOf(String(job.schedule?.timezone ?? "UTC"))} and yours</span>
      </header>
      <InstantList items={items} />
    </section>
  );
}

export function InstantList({ items }: { items: Instant[] }) {
  return (
    <ol class="instants body">
      {items.map((one) => (
        <li key={one.local + one.at}>
          <Icon name={one.flag ? "at_risk" : "scheduled"} />
          {one.at ? <Time at={one.at} /> : <span class="dim">none</span>}
          <span class="dim">{one.local.slice(11, 16)}</span>
          <span class="dim">{one.at ? `${clock(new Date(one.at), "UTC")} UTC` : ""}</span>
          <span class="dim">{one.flag ? one.flag.replaceAll("_", " ") : one.at && <Relative at={one.at} />}</span>
        </li>
      ))}
    </ol>
  );
}
