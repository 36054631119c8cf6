/** The attempts that have ended: of the execution, or of each of its parts. */

import type { Attempt, Execution } from "../../api/types";
import { Preformatted } from "../../components/preformatted";
import { Empty } from "../../components/states";
import { words } from "../../components/status";
import { Time } from "../../components/time";
import { duration } from "../../format/duration";
import { WorkerLink } from "./part-details";
import { partName } from "./part-name";

export function attemptsOf({ attempts, parts, timezone }: Execution): { part: string; attempt: Attempt }[] {
  const ofParts = (parts ?? []).flatMap((part) =>
    part.attempts.map((attempt) => ({ part: part.part === "all" ? "" : partName(part, timezone), attempt })),
  );
  return [...attempts.map((attempt) => ({ part: "", attempt })), ...ofParts];
}

export function Attempts({ execution }: { execution: Execution }) {
  const attempts = attemptsOf(execution);
  if (attempts.length === 0) return <Empty title="No attempt has ended yet" />;
  return (
    <ol class="attempts body padded">
      {attempts.map(({ part, attempt }) => (
        <li key={part + attempt.number}>
          <p>
            <b>
              {part && `${part}, `}
              {part ? "attempt" : "Attempt"} {attempt.number}
            </b>{" "}
            {words(attempt.outcome)}
            <span class="dim">
              {attempt.started_at &&
                ` after ${duration((Date.parse(attempt.ended_at) - Date.parse(attempt.started_at)) / 1000)}`}
              , ended <Time at={attempt.ended_at} jobZone={execution.timezone} />
            </span>
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
                <Preformatted text={attempt.error.trace} label={`Trace of attempt ${attempt.number} ${part}`.trim()} />
              )}
            </>
          )}
        </li>
      ))}
    </ol>
  );
}
