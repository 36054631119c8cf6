/** A value as JSON text. While the text is not JSON, the last value stays, and the form cannot be saved. */

import { useState } from "preact/hooks";
import { jsonOf } from "../../format/json";
import { Field } from "./field";
import { useProblemWithin, useReport } from "./problems";

interface Props {
  path: string;
  label: string;
  note: string;
  isOptional: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
}

export function JsonField({ path, label, note, isOptional, value, onChange }: Props) {
  const [typed, setTyped] = useState({ text: textOf(value), value });
  const isCurrent = JSON.stringify(typed.value) === JSON.stringify(value);
  const text = isCurrent ? typed.text : textOf(value);
  const error = errorOf(text);
  useReport(path, error);
  const problem = useProblemWithin(path);
  const change = (next: string) => {
    const isValid = errorOf(next) === null;
    const parsed = isValid ? parsedOf(next) : value;
    setTyped({ text: next, value: parsed });
    if (isValid) onChange(parsed);
  };
  return (
    <Field
      id={path}
      label={label}
      isOptional={isOptional}
      note={[note, "JSON"].filter(Boolean).join(", ")}
      problem={problem}
    >
      <textarea
        id={path}
        class="input"
        rows={Math.min(12, Math.max(3, text.split("\n").length))}
        aria-invalid={Boolean(problem)}
        aria-describedby={`${path}-note`}
        spellcheck={false}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </Field>
  );
}

function textOf(value: unknown): string {
  return value === undefined ? "" : jsonOf(value);
}

/** No text: no value. */
function parsedOf(text: string): unknown {
  return text.trim() ? JSON.parse(text) : undefined;
}

function errorOf(text: string): string | null {
  try {
    parsedOf(text);
    return null;
  } catch (error) {
    return `is not JSON: ${error instanceof Error ? error.message : error}`;
  }
}
