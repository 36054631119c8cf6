/** The editor of a value that has a JSON Schema: a field, or a group of fields for what has parts. */

import { capitalised } from "../../format/text";
import { limitsOf } from "../tasks/parameters";
import { Field } from "./field";
import { JsonField } from "./json-field";
import { ListFields, MapFields, ObjectFields, SetFields, VariantFields } from "./part-fields";
import { useProblemWithin } from "./problems";
import { editorOf, resolved, type Schema } from "./schema";

export interface ValueProps {
  /** The name of the field in the API's refusals, and the id of its input. */
  path: string;
  label: string;
  schema: Schema;
  /** Where references of the schema point to. */
  root: Schema;
  value: unknown;
  /** Undefined leaves the field out. */
  onChange: (value: unknown) => void;
  isRequired?: boolean;
  /** How many values it is within. */
  level?: number;
  /** Whether an empty text is a value, as in an item of a list. */
  keepsEmpty?: boolean;
}

export function ValueField(props: ValueProps) {
  const { path, label, root, value, onChange, isRequired = false, level = 0 } = props;
  const schema = resolved(props.schema, root);
  const editor = editorOf(schema, value, level);
  const part = { ...props, schema, level: level + 1 };
  switch (editor.kind) {
    case "object":
      return <ObjectFields {...part} editor={editor} />;
    case "list":
      return <ListFields {...part} item={editor.item} />;
    case "map":
      return <MapFields {...part} item={editor.item} />;
    case "set":
      return <SetFields {...part} values={editor.values} />;
    case "variant":
      return <VariantFields {...part} options={editor.options} />;
    case "json":
      return <JsonField {...{ path, label, value, onChange }} isOptional={!isRequired} note={noteOf(schema)} />;
    case "boolean":
      return <Choice {...part} values={[true, false]} />;
    case "choice":
      return <Choice {...part} values={editor.values} />;
    default:
      return <Input {...part} isNumber={editor.kind === "number"} />;
  }
}

function Choice({
  path,
  label,
  schema,
  value,
  onChange,
  isRequired,
  keepsEmpty,
  values,
}: ValueProps & { values: unknown[] }) {
  const problem = useProblemWithin(path);
  return (
    <Field id={path} label={label} isOptional={!isRequired} note={schema.description} problem={problem}>
      <select
        id={path}
        class="input"
        aria-invalid={Boolean(problem)}
        aria-describedby={`${path}-note`}
        value={values.indexOf(value)}
        onChange={(event) => onChange(values[Number(event.currentTarget.value)])}
      >
        {!keepsEmpty && <option value="-1">{schema.default === undefined ? "…" : `Default: ${schema.default}`}</option>}
        {values.map((one, position) => (
          <option key={String(one)} value={position}>
            {typeof one === "string" ? wordsOf(one) : String(one)}
          </option>
        ))}
      </select>
    </Field>
  );

  /** The values of a task are shown as they are; those of a job's fields are words. */
  function wordsOf(text: string): string {
    return schema.words ? capitalised(text.replaceAll("_", " ")) : text;
  }
}

function Input({
  path,
  label,
  schema,
  value,
  onChange,
  isRequired,
  keepsEmpty,
  isNumber,
}: ValueProps & { isNumber: boolean }) {
  const problem = useProblemWithin(path);
  const change = (text: string) => {
    if (text === "") onChange(!keepsEmpty ? undefined : isNumber ? null : "");
    else onChange(isNumber ? Number(text) : text);
  };
  return (
    <Field id={path} label={label} isOptional={!isRequired} note={noteOf(schema)} problem={problem}>
      <input
        id={path}
        class="input"
        type={isNumber ? "number" : "text"}
        step={isNumber ? "any" : undefined}
        placeholder={schema.default === undefined ? undefined : String(schema.default)}
        aria-invalid={Boolean(problem)}
        aria-describedby={`${path}-note`}
        value={value === undefined || value === null ? "" : String(value)}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </Field>
  );
}

const TYPES: Record<string, string> = { string: "text", integer: "whole number", number: "number" };

/** The description, and the limits or else the type. */
export function noteOf(schema: Schema): string {
  if (schema.words && schema.maximum === undefined) return schema.description ?? "";
  const limits = limitsOf({ ...schema, enum: undefined });
  const type = schema.words ? "" : (TYPES[String(schema.type)] ?? "");
  return [schema.description, limits || type].filter(Boolean).join(", ");
}
