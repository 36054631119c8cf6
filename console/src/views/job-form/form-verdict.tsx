/** What the API thinks of the draft: no problems, or a link to each field that has one. */

import { type FieldProblem, Problem } from "../../api/problem";
import type { Changes } from "../../api/types";
import { Mark } from "../../components/status";
import { plural } from "../../format/duration";
import { focusOn } from "./problems";

interface Props {
  changes: Changes | Problem | null;
  /** Texts that are no values, so that the API has not seen them. */
  unreadable: FieldProblem[];
  isStarted: boolean;
  isChanged: boolean;
}

export function FormVerdict({ changes, unreadable, isStarted, isChanged }: Props) {
  if (unreadable.length) return <Problems fields={unreadable} message="" />;
  if (!isStarted) return <span class="dim verdict-line">Choose a task first.</span>;
  if (!isChanged) return <span class="dim verdict-line">No change yet.</span>;
  if (changes === null) return <span class="dim verdict-line">Checking…</span>;
  if (changes instanceof Problem) return <Problems fields={changes.fields} message={changes.message} />;
  return (
    <span class="verdict-line" role="status">
      <Mark hue="ok" icon="succeeded">
        No problems, {plural(changes.appear.length + changes.left_out, "execution")} will appear
      </Mark>
    </span>
  );
}

function Problems({ fields, message }: { fields: FieldProblem[]; message: string }) {
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
