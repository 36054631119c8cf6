/** Cancel and retry, each with its dry run. */

import { useState } from "preact/hooks";
import { send } from "../../api/client";
import type { Execution, RunResponse } from "../../api/types";
import { closeDialog, Dialog } from "../../components/dialog";
import { DryRun } from "../../components/dry-run";
import { RemedyDialog } from "../../components/remedies/dialog";
import { say } from "../../components/toasts";
import { navigate, place } from "../../router";
import { nameOf } from "./view";

export function ExecutionDialog({ execution, reload }: { execution: Execution; reload: () => void }) {
  const wanted = place.value.query.get("do");
  if (wanted === "cancel") return <Cancel execution={execution} reload={reload} />;
  if (wanted === "retry") return <Retry execution={execution} />;
  if (wanted === "again") return <Retry execution={execution} hasChanges />;
  return <RemedyDialog names={new Map([[execution.job_id, nameOf(execution)]])} reload={reload} />;
}

function Cancel({ execution, reload }: { execution: Execution; reload: () => void }) {
  const [grace, setGrace] = useState(execution.lane === "long" ? 100 : 30);
  const path = `/executions/${execution.execution_id}/cancel?grace_seconds=${grace}`;
  const confirm = async () => {
    await send("PUT", path);
    closeDialog();
    reload();
    say(`Cancelled: ${nameOf(execution)}`);
  };
  return (
    <Dialog title={`Cancel ${nameOf(execution)}?`} verb="Cancel the execution" isDanger onConfirm={confirm}>
      <p>
        A running task is asked to stop. After the grace period its lease is revoked and its result is discarded.
        Checkpoints and finished partitions stay.
      </p>
      <label class="field">
        <span class="label">Grace period in seconds</span>
        <input
          class="input"
          type="number"
          min="0"
          max={execution.lane === "long" ? 100 : 600}
          value={grace}
          onInput={(event) => setGrace(Number(event.currentTarget.value))}
        />
      </label>
      <DryRun method="PUT" path={path} />
    </Dialog>
  );
}

function Retry({ execution, hasChanges = false }: { execution: Execution; hasChanges?: boolean }) {
  const original = JSON.stringify(execution.parameters, null, 2);
  const [parameters, setParameters] = useState(original);
  const [from, setFrom] = useState<"checkpoint" | "start">("checkpoint");
  const isLong = execution.lane === "long" && execution.status !== "succeeded";
  const path = `/executions/${execution.execution_id}/retry`;
  const parsed = parse(parameters);
  const [timeout, setTimeoutSeconds] = useState("");
  const body = {
    ...(parsed && parameters !== original ? { parameters: parsed } : {}),
    ...(isLong && from === "start" ? { from } : {}),
    ...(timeout ? { timeout_seconds: Number(timeout) } : {}),
  };
  const confirm = async () => {
    if (!parsed) throw new Error("Parameters: not a JSON object.");
    const sent = await send<RunResponse>("POST", path, body);
    say(`${nameOf(execution)}: ${sent.data.outcome}`);
    navigate(`/executions/${sent.data.execution.execution_id}`);
  };
  return (
    <Dialog
      title={`Run ${nameOf(execution)} again${hasChanges ? " with changes" : ""}?`}
      verb="Run again"
      onConfirm={confirm}
    >
      <p>Creates another execution of the same due instant and data window, under the current rules of the job.</p>
      {isLong && (
        <fieldset class="segments" aria-label="Where to start">
          <label>
            <input type="radio" name="from" checked={from === "checkpoint"} onChange={() => setFrom("checkpoint")} />
            From the checkpoint
          </label>
          <label>
            <input type="radio" name="from" checked={from === "start"} onChange={() => setFrom("start")} />
            From the start
          </label>
        </fieldset>
      )}
      {hasChanges && (
        <>
          <label class="field">
            <span class="label">Parameters</span>
            <textarea
              class="input"
              rows={6}
              aria-invalid={parsed === null}
              value={parameters}
              onInput={(event) => setParameters(event.currentTarget.value)}
            />
            {parsed === null && <span class="error">Not a JSON object</span>}
          </label>
          <label class="field">
            <span class="label">Time limit of an attempt in seconds</span>
            <input
              class="input"
              type="number"
              min="1"
              placeholder="As the job says"
              value={timeout}
              onInput={(event) => setTimeoutSeconds(event.currentTarget.value)}
            />
          </label>
        </>
      )}
      <DryRun method="POST" path={path} body={body} />
    </Dialog>
  );
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
