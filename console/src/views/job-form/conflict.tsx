/** Another user saved the job meanwhile: what changed, and the way to apply the own changes on top. */

import type { Job } from "../../api/types";
import { Link } from "../../components/link";
import { Mark } from "../../components/status";
import { mayOperate } from "../../state/me";
import { changedFields, type Draft, draftOf } from "./draft";

interface Props {
  before: Draft;
  newer: Job;
  mine: Draft;
  apply: () => void;
}

export function Conflict({ before, newer, mine, apply }: Props) {
  const theirs = changedFields(before, draftOf(newer));
  return (
    <section class="card conflict" role="alert">
      <Mark hue="warn" icon="at_risk">
        <b>Another user saved revision {newer.revision}.</b> Nothing of yours is saved yet.
      </Mark>
      <table class="table is-compact" aria-label="Changes by another user">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">Now</th>
            <th scope="col">Yours</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(theirs).map(([name, value]) => (
            <tr key={name}>
              <td>{name}</td>
              <td class="mono">{textOf(before[name])}</td>
              <td class="mono">{textOf(value)}</td>
              <td class="mono">{name in mine ? textOf(mine[name]) : "Unchanged"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        <Link to={`/jobs/${newer.job_id}?tab=revisions`} class="button">
          See revisions
        </Link>
        {mayOperate.value && (
          <button type="button" class="button is-main" onClick={apply}>
            Apply mine on top
          </button>
        )}
      </div>
    </section>
  );
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? "Default" : typeof value === "string" ? value : JSON.stringify(value);
}
