/** A bulk operation while it runs and when it has ended: progress, failures, abort, undo. Its id is in the address. */

import { useEffect, useState } from "preact/hooks";
import { send } from "../../api/client";
import { count, plural } from "../../format/duration";
import { place, setQuery } from "../../router";
import { useResource } from "../../state/resource";
import { Icon } from "../icon";
import { complain } from "../toasts";
import { type Choice, choiceOf, type Operation } from "./actions";

const POLL_MS = 1_000;
const NEVER = 0;

export function OperationBar({ onEnd }: { onEnd: () => void }) {
  const id = place.value.query.get("operation");
  return id ? <Bar key={id} id={id} onEnd={onEnd} /> : null;
}

function Bar({ id, onEnd }: { id: string; onEnd: () => void }) {
  const [isOver, setOver] = useState(false);
  const operation = useResource<Operation>(`/operations/${id}`, isOver ? NEVER : POLL_MS);
  const { data, problem } = operation;
  const hasEnded = data !== null && data.state !== "running";
  useEffect(() => {
    if (!hasEnded) return;
    setOver(true);
    onEnd(); // the list is read again once
  }, [hasEnded]);
  const close = () => setQuery({ operation: null }, { replace: true });
  if (data === null) {
    return (
      <section class="card operation" aria-label="Bulk operation">
        <p role="status">{problem ? `Operation ${id}: ${problem.message}` : "Operation…"}</p>
        {problem && <Close close={close} />}
      </section>
    );
  }
  const choice = choiceOf(data.kind, data.action);
  const processed = data.done + data.skipped + data.failed;
  return (
    <section class="card operation" aria-label="Bulk operation">
      <p role="status">
        <b>{summary(data, choice)}</b>
        <span class="dim">
          {data.skipped > 0 && `, ${count(data.skipped)} skipped`}
          {data.failed > 0 && `, ${count(data.failed)} failed`}
        </span>
      </p>
      {!hasEnded && <progress max={data.total} value={processed} aria-label="Progress" />}
      <div class="actions">
        {!hasEnded && (
          <button type="button" class="button" disabled={data.abort_requested_at !== null} onClick={() => abort(id)}>
            {data.abort_requested_at ? "Aborting…" : "Abort"}
          </button>
        )}
        {hasEnded && data.action === "pause" && data.undo_of === null && data.done > 0 && (
          <button type="button" class="button" onClick={() => undo(id)}>
            Undo
          </button>
        )}
        {hasEnded && <Close close={close} />}
      </div>
      <Problems operation={data} />
    </section>
  );
}

function summary(operation: Operation, choice: Choice | undefined): string {
  const processed = operation.done + operation.skipped + operation.failed;
  const noun = operation.kind.slice(0, -1);
  if (operation.state === "running") {
    return `${choice?.doing ?? operation.action}: ${count(processed)} of ${count(operation.total)}`;
  }
  const done = `${plural(operation.done, noun)} ${choice?.done ?? "changed"}`;
  return operation.state === "aborted"
    ? `Aborted after ${count(processed)} of ${count(operation.total)}: ${done}`
    : done;
}

function Problems({ operation }: { operation: Operation }) {
  const problems = [...(operation.failures ?? []), ...(operation.skips ?? [])];
  if (problems.length === 0) return null;
  return (
    <details>
      <summary>{plural(problems.length, "item")} not changed</summary>
      <ul class="list-rows">
        {problems.map((one) => (
          <li key={one.id}>
            <span class="mono">{one.id}</span> <span class="dim">{one.reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Close({ close }: { close: () => void }) {
  return (
    <button type="button" class="button is-plain is-icon" aria-label="Close" onClick={close}>
      <Icon name="close" />
    </button>
  );
}

async function abort(id: string): Promise<void> {
  try {
    await send("POST", `/operations/${id}/abort`);
  } catch (error) {
    complain(error);
  }
}

async function undo(id: string): Promise<void> {
  try {
    const sent = await send<Operation>("POST", `/operations/${id}/undo`);
    setQuery({ operation: sent.data.operation_id }, { replace: true });
  } catch (error) {
    complain(error);
  }
}
