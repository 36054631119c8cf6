/** One part: its times, worker, progress and errors. */

import type { ComponentChildren } from "preact";
import type { Part } from "../../api/types";
import { Json } from "../../components/json";
import { Link } from "../../components/link";
import { Preformatted } from "../../components/preformatted";
import { Time } from "../../components/time";
import { duration } from "../../format/duration";
import { sentence } from "../../format/text";
import { PartStatus, secondsOf } from "./part-status";

interface Props {
  part: Part;
  name: string;
  timezone: string;
}

export function PartDetails({ part, name, timezone }: Props) {
  const time = (at: string | null) => <Time at={at} jobZone={timezone} />;
  const seconds = secondsOf(part);
  const rows: [string, ComponentChildren | null][] = [
    ["Progress", progressWords(part)],
    ["Attempt", part.attempt > 0 ? part.attempt : null],
    ["Worker", part.worker_id && <WorkerLink id={part.worker_id} />],
    ["Waits since", part.started_at || !part.requested_at ? null : time(part.requested_at)],
    ["Starts about", part.expected_start && !part.started_at ? time(part.expected_start) : null],
    ["Started", part.started_at && time(part.started_at)],
    ["Ended", part.ended_at && time(part.ended_at)],
    ["Ends about", part.expected_end && !part.ended_at ? time(part.expected_end) : null],
    ["Run time", seconds === null ? null : duration(seconds)],
    ["Lease until", part.lease_until && time(part.lease_until)],
    ["Reason", part.reason && sentence(part.reason)],
    ["Value", part.value == null ? null : <Json value={part.value} label="Value" />],
  ];
  return (
    <div class="part-details" role="status">
      <p class="chips">
        <b>{name}</b>
        <PartStatus part={part} />
      </p>
      <dl class="details">
        {rows.map(
          ([term, value]) =>
            value != null && (
              <>
                <dt key={term}>{term}</dt>
                <dd>{value}</dd>
              </>
            ),
        )}
      </dl>
      {part.error && (
        <>
          <p class="error">
            {part.error.type}: {part.error.message}
          </p>
          {part.error.trace && <Preformatted text={part.error.trace} label={`Trace of ${name}`} />}
        </>
      )}
    </div>
  );
}

export function WorkerLink({ id }: { id: string }) {
  return (
    <Link to={`/executions?worker_id=${encodeURIComponent(id)}`} class="mono linked">
      {id}
    </Link>
  );
}

function progressWords({ progress, usual_percent: usual, ended_at: ended }: Part): string | null {
  if (!progress) return null;
  const parts = [
    `${Math.round(progress.percent)}%`,
    !ended && progress.message,
    usual != null && `usually ${Math.round(usual)}% by now`,
  ];
  return parts.filter(Boolean).join(", ");
}
