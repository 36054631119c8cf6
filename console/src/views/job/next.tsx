/** The next ten due instants, in the job's zone and UTC, with clock changes; the viewer's zone is in the tooltip. */

import type { Instant, JobDetail } from "../../api/types";
import { Icon } from "../../components/icon";
import { words } from "../../components/status";
import { Relative, zonesOf } from "../../components/time";
import { cityOf, clock, day, zone } from "../../format/time";
import { zoneOf } from "../jobs/view";

export function NextInstants({ job }: { job: JobDetail }) {
  const items = job.state === "active" ? job.next : null;
  if (!items?.length) return null;
  const timezone = zoneOf(job) ?? "UTC";
  return (
    <section class="card">
      <header>
        <h2>Next ten</h2>
        <span class="note aside">{zoneNames(timezone)}</span>
      </header>
      <InstantList items={items} timezone={timezone} />
    </section>
  );
}

/** `New York and UTC`; for a job in UTC, the viewer's zone is the other one. */
export function zoneNames(timezone: string): string {
  const other = timezone === "UTC" ? zone.value : "UTC";
  return [...new Set([timezone, other])].map(cityOf).join(" and ");
}

export function InstantList({ items, timezone }: { items: Instant[]; timezone: string }) {
  return (
    <ol class="instants body">
      {items.map((one) => (
        <li key={one.local + one.at}>
          <span class="strong" title={one.at ? zonesOf(new Date(one.at), timezone) : undefined}>
            {one.flag && <Icon name="at_risk" class="hue-warn" />} {dayOf(one.local)}
          </span>
          <span class="strong">{one.local.slice(11, 16)}</span>
          <span class="dim">{one.at ? otherClock(new Date(one.at), timezone) : "none"}</span>
          <span class="dim number">
            {one.flag ? words(one.flag) : one.at && <Relative at={one.at} jobZone={timezone} />}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The wall clock of UTC, for a job in UTC that of the viewer; none if there is no other. */
function otherClock(at: Date, timezone: string): string {
  const other = timezone === "UTC" ? zone.value : "UTC";
  return other === timezone ? "" : `${clock(at, other)} ${cityOf(other)}`;
}

/** `Tue 24 Nov` of a local time; the year is clear from how far ahead it is. */
function dayOf(local: string): string {
  const noon = new Date(`${local.slice(0, 10)}T12:00:00Z`);
  return day(noon, noon, "UTC");
}
