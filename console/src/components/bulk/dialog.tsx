/** Asks before a bulk operation: the dry run counts what it would change. */

import { useEffect, useState } from "preact/hooks";
import { send } from "../../api/client";
import { Problem } from "../../api/problem";
import { setQuery } from "../../router";
import { Dialog } from "../dialog";
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
  const [found, setFound] = useState<Selected | Problem | null>(null);
  const body = { action: choice.action, ...items, ...(choice.action === "priority" ? { priority } : {}) };
  const text = JSON.stringify(body);
  useEffect(() => {
    let isOver = false;
    send<Selected>("POST", `/${kind}/bulk?dry_run=true`, JSON.parse(text))
      .then((sent) => !isOver && setFound(sent.data))
      .catch((error) => !isOver && setFound(error instanceof Problem ? error : new Problem(0, String(error))));
    return () => {
      isOver = true;
    };
  }, [kind, text]);

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
  if (found === null) {
    return (
      <p class="dim" role="status">
        Dry run…
      </p>
    );
  }
  if (found instanceof Problem) {
    return (
      <p class="error" role="alert">
        Dry run refused: {found.message}
      </p>
    );
  }
  return (
    <p class="note" role="status">
      Dry run, just now: {found.count} match. Nothing was written. The operation runs in the background, shows its
      progress, and can be aborted.
    </p>
  );
}
