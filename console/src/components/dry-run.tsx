/** What a change would do, from the API's dry run. Nothing is written. */

import { Problem } from "../api/problem";
import type { Changes } from "../api/types";
import { count } from "../format/duration";
import { sentence } from "../format/text";
import { dueOf, when } from "../format/time";
import { useAnswer } from "../state/resource";
import { Icon, type IconName } from "./icon";
import { tryingAgain } from "./states";

interface Props {
  method: string;
  path: string;
  body?: unknown;
}

const ROWS = [
  { name: "appear", icon: "plus", hue: "ok", word: "appear" },
  { name: "vanish", icon: "cancelled", hue: "idle", word: "vanish" },
  { name: "repeat", icon: "retrying", hue: "idle", word: "run again" },
] as const satisfies { name: keyof Changes; icon: IconName; hue: string; word: string }[];

export function dryRunPath(path: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}dry_run=true`;
}

/** Ask for the dry run and show it. */
export function DryRun({ method, path, body }: Props) {
  return <ChangesView changes={useAnswer<Changes>(method, dryRunPath(path), body)} />;
}

export function ChangesView({ changes }: { changes: Changes | Problem | null }) {
  if (changes === null || changes instanceof Problem) return <NoDryRun problem={changes} />;
  return (
    <div role="status">
      <ul class="changes">
        {ROWS.map(({ name, icon, hue, word }) => {
          const items = changes[name];
          return (
            <li key={name}>
              <span class={`hue-${hue}`}>
                <Icon name={icon} />
              </span>
              <b>{count(items.length)}</b>
              <span>
                {word}
                {items[0] && <span class="dim">{firstOf(items[0].execution_id)}</span>}
              </span>
            </li>
          );
        })}
      </ul>
      {changes.left_out > 0 && <p>and {count(changes.left_out)} more</p>}
      <p class="note">Dry run, just now. Nothing was written.</p>
    </div>
  );
}

/** The placeholder of a dry run that is under way, was refused, or waits for the API. */
export function NoDryRun({ problem }: { problem: Problem | null }) {
  if (problem === null || problem.isAway) {
    return (
      <p class="dim" role="status">
        Dry run… {problem && `${sentence(problem.message)} ${tryingAgain(problem)}`}
      </p>
    );
  }
  return (
    <p class="error" role="alert">
      Dry run refused: {problem.message}
    </p>
  );
}

function firstOf(executionId: string): string {
  const due = dueOf(executionId);
  return due ? `, first ${when(due)}` : "";
}
