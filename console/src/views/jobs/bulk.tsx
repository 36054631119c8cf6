/** Actions on the selected jobs, one request each, with progress and failures. */

import { useState } from "preact/hooks";
import { send } from "../../api/client";
import { Problem } from "../../api/problem";
import { Icon } from "../../components/icon";
import { complain, say } from "../../components/toasts";
import { plural } from "../../format/duration";

const ACTIONS = [
  { verb: "Run now", method: "POST", path: "run", done: "started" },
  { verb: "Pause", method: "POST", path: "pause", done: "paused" },
  { verb: "Resume", method: "POST", path: "resume", done: "resumed" },
] as const;
type Action = (typeof ACTIONS)[number];

interface Props {
  ids: ReadonlySet<string>;
  clear: () => void;
  reload: () => void;
}

export function BulkBar({ ids, clear, reload }: Props) {
  const [done, setDone] = useState<number | null>(null);
  const act = async (action: Action) => {
    let failed = 0;
    let reason = "";
    setDone(0);
    for (const [position, id] of [...ids].entries()) {
      try {
        await send(action.method, `/jobs/${id}/${action.path}`);
      } catch (error) {
        failed += 1;
        reason = error instanceof Problem ? error.message : String(error);
      }
      setDone(position + 1);
    }
    setDone(null);
    if (failed) complain(`${plural(failed, "job")} not ${action.done}: ${reason}`);
    if (ids.size > failed) say(`${plural(ids.size - failed, "job")} ${action.done}`);
    clear();
    reload();
  };
  return (
    <section class="bulk" aria-label="Selected jobs" aria-live="polite">
      <b>{done === null ? `${ids.size} selected` : `${done} of ${ids.size}`}</b>
      {ACTIONS.map((action) => (
        <button type="button" key={action.path} disabled={done !== null} onClick={() => act(action)}>
          {action.verb}
        </button>
      ))}
      <button type="button" aria-label="Clear the selection" onClick={clear}>
        <Icon name="close" />
      </button>
    </section>
  );
}
