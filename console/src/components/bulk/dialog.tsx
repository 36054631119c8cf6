/** Asks before a bulk operation: the dry run counts what it would change. */

import { useState } from "preact/hooks";
import { send } from "../../api/client";
import { Problem } from "../../api/problem";
import { setQuery } from "../../router";
import { useAnswer } from "../../state/resource";
import { Dialog } from "../dialog";
import { NoDryRun } from "../dry-run";
import type { Choice, Kind, Operation, Selected } from "./actions";

interface Props {
  kind: Kind;
  choice: Choice;
  items: { ids: string[] } | { filter: Record<string, unknown> };
  titleOf: (found: number) => string;
  onStarted: () => void;
}

const PRIORITIES = ["high", "normal", "low"];

export function BulkDialog({ kind, choice, items, titleOf, onStarted }: Props) {
  const [priority, setPriority] = useState("low");
  const body = { action: choice.action, ...items, ...(choice.action === "priority" ? { priority } : {}) };
  const found = useAnswer<Selected>("POST", `/${kind}/bulk?dry_run=true`, body);

  const confirm = async () => {
    const sent = await send<Operation>("POST", `/${kind}/bulk`, body);
    onStarted();
    setQuery({ do: null, operation: sent.data.operation_id }, { replace: true });
  };
  const title = found === null || found instanceof Problem ? `${choice.verb} ${kind}` : titleOf(found.count);
  return (
    <Dialog title={`${title}?`} verb={title} isDanger={choice.isDanger ?? false} onConfirm={confirm}>
      <p>{choice.consequence}</p>
      {choice.action === "priority" && (
        <fieldset class="segments" aria-label="Priority">
          {PRIORITIES.map((one) => (
            <label key={one}>
              <input type="radio" name="priority" checked={priority === one} onChange={() => setPriority(one)} />
              {one}
            </label>
          ))}
        </fieldset>
      )}
      <Count found={found} />
    </Dialog>
  );
}

function Count({ found }: { found: Selected | Problem | null }) {
  if (found === null || found instanceof Problem) return <NoDryRun problem={found} />;
  return (
    <p class="note" role="status">
      Dry run, just now: {found.count} match. Nothing was written. The operation runs in the background, shows its
      progress, and can be aborted.
    </p>
  );
}
