/** Fields for the parameters of a task, from its JSON Schema. Without one, or for other parameters, a JSON field. */

import { Properties } from "./part-fields";
import { useProblem } from "./problems";
import { editorOf, resolved, type Schema } from "./schema";
import { ValueField } from "./value-field";

interface Props {
  schema: unknown;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
}

export function SchemaFields({ schema, value, onChange }: Props) {
  const root = resolved((schema ?? {}) as Schema, (schema ?? {}) as Schema);
  const editor = editorOf(root, value);
  const problem = useProblem("parameters");
  const common = {
    path: "parameters",
    label: "Parameters",
    schema: root,
    root: (schema ?? {}) as Schema,
    value,
    onChange: (next: unknown) => onChange((next ?? {}) as Record<string, unknown>),
  };
  if (editor.kind !== "object") return <ValueField {...common} schema={{ ...root, description: "" }} />;
  if (Object.keys(editor.properties).length === 0) return null;
  return (
    <div class="form-grid-frame" id="parameters" tabIndex={-1}>
      {problem && <p class="note error">{problem}</p>}
      <Properties {...common} editor={editor} level={0} />
    </div>
  );
}
