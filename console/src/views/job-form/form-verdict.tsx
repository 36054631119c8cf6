/** What the API thinks of the draft: no problems, or a link to each field that has one. */

import { Problem } from "../../api/problem";
import type { Changes } from "../../api/types";
import { Mark } from "../../components/status";
import { plural } from "../../format/duration";
import { inputOf } from "./plain";

interface Props {
  changes: Changes | Problem | null;
  isStarted: boolean;
  isChanged: boolean;
}

export function FormVerdict({ changes, isStarted, isChanged }: Props) {
  if (!isStarted) return <span class="dim verdict-line">Choose a task first.</span>;
  if (!isChanged) return <span class="dim verdict-line">No change yet.</span>;
  if (changes === null) return <span class="dim verdict-line">Checking…</span>;
  if (changes instanceof Problem) return <Problems problem={changes} />;
  return (
    <span class="verdict-line" role="status">
      <Mark hue="ok" icon="succeeded">
        No problems, {plural(changes.appear.length + changes.left_out, "execution")} will appear
      </Mark>
    </span>
  );
}

function Problems({ problem }: { problem: Problem }) {
  const { fields, message } = problem;
  return (
    <div class="verdict-line" role="alert">
      <Mark hue="bad" icon="failed">
        {fields.length ? plural(fields.length, "problem") : message}
      </Mark>
      <ul>
        {fields.map((one) => (
          <li key={one.field}>
            <button type="button" class="linked" onClick={() => focusOn(one.field)}>
              {one.field}
            </button>
            : {one.message}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Fields without an input of their own are in the JSON field. */
function focusOn(field: string): void {
  const ids = [inputOf(field), field.split(".")[0] ?? field, "others"];
  const input = ids.map((id) => document.getElementById(id)).find(Boolean);
  input?.scrollIntoView({ block: "center" });
  input?.focus();
}
