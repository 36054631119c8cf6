import type { Execution } from "../../api/types";
import { Preformatted } from "../../components/preformatted";
import { Empty } from "../../components/states";
import { words } from "../../components/status";
import { Time } from "../../components/time";
import { duration } from "../../format/duration";
import { WorkerLink } from "./part-details";

export function Attempts({ execution }: { execution: Execution }) {
  if (execution.attempts.length === 0) return <Empty title="No attempt has ended yet" />;
  return (
    <ol class="attempts body padded">
      {execution.attempts.map((attempt) => (
        <li key={attempt.number}>
          <p>
            <b>Attempt {attempt.number}</b> {words(attempt.outcome)}
            {attempt.started_at && (
              <span class="dim">
                {" "}
                after {duration((Date.parse(attempt.ended_at) - Date.parse(attempt.started_at)) / 1000)}, ended{" "}
                <Time at={attempt.ended_at} jobZone={execution.timezone} />
              </span>
            )}
          </p>
          {attempt.worker_id && (
            <p class="note">
              Worker <WorkerLink id={attempt.worker_id} />
            </p>
          )}
          {attempt.error && (
            <>
              <p class="error">
                {attempt.error.type}: {attempt.error.message}
              </p>
              {attempt.error.trace && (
                <Preformatted text={attempt.error.trace} label={`Trace of attempt ${attempt.number}`} />
              )}
            </>
          )}
        </li>
      ))}
    </ol>
  );
}
