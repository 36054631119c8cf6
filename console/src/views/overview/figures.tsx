/** The numbers of the day, each with what it is made of. */

import type { ComponentChildren } from "preact";
import type { Overview } from "../../api/types";
import { Relative, Time } from "../../components/time";
import { count, duration, plural } from "../../format/duration";
import { now } from "../../state/clock";
import { dueWithinAnHour } from "./verdict";

export function Figures({ overview }: { overview: Overview }) {
  const { running, lateness_p99_seconds: lateness, late, lanes, deadlines, failed_today: failed, slots } = overview;
  const [next] = overview.due_next;
  const inDanger = deadlines.at_risk + deadlines.will_miss + deadlines.missed;
  return (
    <dl class="card figures">
      <Figure title="Running now" value={`${count(running)}${overview.running_is_exact ? "" : "+"}`}>
        {Object.keys(lanes).length > 0 ? `${plural(slots.taken_tasks, "part")} in the long lane` : "None"}
      </Figure>
      <Figure title="Due in the next hour" value={dueWithinAnHour(overview, now.value)}>
        {next ? (
          <>
            next: {next.job_name ?? next.task} <Relative at={next.scheduled_at} />
          </>
        ) : (
          "Nothing is planned"
        )}
      </Figure>
      <Figure title="Late to start" value={count(late.items.length)}>
        {lateness === null ? "Unknown: nothing started" : `P99 ${duration(lateness)} in the last minute`}
      </Figure>
      <Figure title="Failed today" value={count(failed.count)}>
        since <Time at={failed.since} />
      </Figure>
      <Figure
        title="Deadlines today"
        value={count(
          deadlines.on_track + (deadlines.met ?? 0) + deadlines.at_risk + deadlines.will_miss + deadlines.missed,
        )}
      >
        {deadlines.met != null && `${count(deadlines.met)} met, `}
        {count(deadlines.on_track)} on track
        {inDanger > 0 && <span class="hue-warn">, {dangers(deadlines)}</span>}
      </Figure>
    </dl>
  );
}

function dangers({ at_risk, will_miss, missed }: Overview["deadlines"]): string {
  return [
    at_risk && `${count(at_risk)} at risk`,
    will_miss && `${count(will_miss)} will miss`,
    missed && `${count(missed)} missed`,
  ]
    .filter(Boolean)
    .join(", ");
}

function Figure({ title, value, children }: { title: string; value: string; children: ComponentChildren }) {
  return (
    <div>
      <dt class="note">{title}</dt>
      <dd>
        <span class="value">{value}</span>
        <span class="note">{children}</span>
      </dd>
    </div>
  );
}
