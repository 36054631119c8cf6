/** The next ten due instants, in the viewer's zone, the job's zone and UTC, with clock changes. */

import { useEffect, useState } from "preact/hooks";
import { send } from "../../api/client";
import type { Instant, Job } from "../../api/types";
import { Icon } from "../../components/icon";
import { Relative, Time } from "../../components/time";
import { cityOf, clock } from "../../format/time";

interface Preview {
  items: Instant[];
}

export function NextInstants({ job }: { job: Job }) {
  const [items, setItems] = useState<Instant[] | null>(null);
  const text = JSON.stringify(job.schedule);
  useEffect(() => {
    if (!job.schedule || job.schedule.queue || job.state !== "active") return;
    send<Preview>("POST", "/schedules/preview", { schedule: JSON.parse(text), count: 10 })
      .then((sent) => setItems(sent.data.items))
      .catch(() => setItems([]));
  }, [text, job.state]);
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
