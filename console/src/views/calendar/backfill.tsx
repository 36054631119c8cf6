/** Run missed and failed due instants again: the dry run first, then one click. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { send } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Changes } from "../../api/types";
import { dryRunPath, NoDryRun } from "../../components/dry-run";
import { complain, say } from "../../components/toasts";
import { plural } from "../../format/duration";
import { useAnswer } from "../../state/resource";
import type { Row } from "./rows";
import { isRepairable, type Run } from "./runs";
import { backfillWords } from "./words";

interface Props {
  row: Row;
  /** The failed runs of the mark that is open. */
  chosen: Run[];
  done: () => void;
  /** Further actions. */
  children?: ComponentChildren;
}

const LIVE = new Set(["active", "paused"]);

export function Backfill({ row, chosen, done, children }: Props) {
  const all = row.runs.filter((run) => isRepairable(run.outcome));
  const [wantsAll, setAll] = useState(false);
  const runs = wantsAll ? all : chosen;
  const from = new Date(Math.min(...runs.map((run) => run.at))).toISOString();
  const to = new Date(Math.max(...runs.map((run) => run.at)) + 1).toISOString();
  const path = `/jobs/${row.job.job_id}/backfill`;
  const [isBusy, setBusy] = useState(false);
  const canRun = LIVE.has(row.job.state);
  const body = { from, to, which: "missing_and_failed" };
  const result = useAnswer<Changes>("POST", canRun ? dryRunPath(path) : null, body);

  const run = async () => {
    setBusy(true);
    try {
      await send("POST", path, body);
      say(`${row.name}: ${plural(runs.length, "run")} backfilled`, { text: "Open", to: `/jobs/${row.job.job_id}` });
      done();
    } catch (error) {
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  if (!canRun)
    return (
      <>
        <p class="dim">The job is {row.job.state}: it cannot be backfilled.</p>
        {children}
      </>
    );
  const total =
    result instanceof Problem || !result ? 0 : result.appear.length + result.repeat.length + result.left_out;
  return (
    <>
      {all.length > chosen.length && (
        <fieldset class="segments" aria-label="What to backfill">
          {[false, true].map((one) => (
            <label key={String(one)}>
              <input type="radio" name="backfill" checked={wantsAll === one} onChange={() => setAll(one)} />
              {one ? `All ${all.length} in view` : chosen.length === 1 ? "This one" : "This hour"}
            </label>
          ))}
        </fieldset>
      )}
      {result === null || result instanceof Problem ? (
        <NoDryRun problem={result} />
      ) : (
        <p class="well" role="status">
          Dry run: {backfillWords(result)}
        </p>
      )}
      <div class="actions">
        <button type="button" class="button is-main" disabled={isBusy || total === 0} onClick={run}>
          Backfill {total > 0 ? plural(total, "run") : ""}
        </button>
        {children}
      </div>
    </>
  );
}
