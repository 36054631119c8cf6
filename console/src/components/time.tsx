/** An instant in the viewer's zone; the title shows all zones. */

import { relative } from "../format/duration";
import { cityOf, clock, when, withZone, zone } from "../format/time";
import { now } from "../state/clock";

interface Props {
  at: string | Date | null | undefined;
  /** The job's zone. */
  jobZone?: string | undefined;
  /** What to show for a null instant. */
  none?: string;
}

export function Time({ at, jobZone, none = "None" }: Props) {
  if (!at) return <span class="dim">{none}</span>;
  const instant = new Date(at);
  return (
    <time dateTime={instant.toISOString()} title={zonesOf(instant, jobZone)}>
      {when(instant, now.value)}
    </time>
  );
}

/** `in 46 s`. */
export function Relative({ at, jobZone }: { at: string | Date; jobZone?: string | undefined }) {
  const instant = new Date(at);
  return (
    <time dateTime={instant.toISOString()} title={zonesOf(instant, jobZone)}>
      {relative(now.value, instant)}
    </time>
  );
}

/** `, 07:00 Berlin`: the wall clock of the job's zone, if it differs from the viewer's. */
export function JobClock({ at, jobZone }: { at: string; jobZone: string | undefined }) {
  const instant = new Date(at);
  if (!jobZone || clock(instant) === clock(instant, jobZone)) return null;
  return (
    <>
      {", "}
      <span class="nowrap">
        {clock(instant, jobZone)} {cityOf(jobZone)}
      </span>
    </>
  );
}

export function zonesOf(at: Date, jobZone?: string): string {
  const names = [...new Set([zone.value, ...(jobZone ? [jobZone] : []), "UTC"])];
  return [...names.map((name) => `${withZone(at, name)}, ${cityOf(name)}`), relative(now.value, at)].join("\n");
}
