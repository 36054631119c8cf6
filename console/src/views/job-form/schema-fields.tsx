/** Fields for the parameters of a task, from its JSON Schema. A schema that is not a flat object gets a JSON field. */

import { useState } from "preact/hooks";
import { jsonOf } from "../../format/json";
import { Field } from "./field";

interface Schema {
  type?: string;
  properties?: Record<string, Property>;
  required?: string[];
}

interface Property {
  type?: string;
  enum?: unknown[];
  description?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
}

interface Props {
  schema: unknown;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
  problemAt: (field: string) => string | undefined;
}

const SIMPLE = ["string", "number", "integer", "boolean"];

export function SchemaFields({ schema, value, onChange, problemAt }: Props) {
  const { properties = {}, required = [] } = (schema ?? {}) as Schema;
  const names = Object.keys(properties);
  const isFlat = names.length > 0 && names.every((name) => isSimple(properties[name]));
  const isCovered = Object.keys(value).every((name) => names.includes(name));
  if (!isFlat || !isCovered)
    return (
      <JsonField
        label="Parameters"
        field="parameters"
        value={value}
        onChange={onChange}
        problem={problemAt("parameters")}
      />
    );
  return (
    <div class="form-grid well">
      {names.map((name) => (
        <PropertyField
          key={name}
          name={name}
          property={properties[name] ?? {}}
          isRequired={required.includes(name)}
          value={value[name]}
          problem={problemAt(`parameters.${name}`)}
          onChange={(next) => {
            const { [name]: _, ...rest } = value;
            onChange(next === undefined ? rest : { ...rest, [name]: next });
          }}
        />
      ))}
    </div>
  );
}

function isSimple(property: Property | undefined): boolean {
  return property?.enum !== undefined || SIMPLE.includes(property?.type ?? "");
}

interface PropertyProps {
  name: string;
  property: Property;
  isRequired: boolean;
  value: unknown;
  problem: string | undefined;
  onChange: (value: unknown) => void;
}

function PropertyField({ name, property, isRequired, value, problem, onChange }: PropertyProps) {
  const id = `parameter-${name}`;
  const common = { id, class: "input", "aria-invalid": Boolean(problem), "aria-describedby": `${id}-note` };
  const isNumber = property.type === "number" || property.type === "integer";
  return (
    <Field id={id} label={name} isOptional={!isRequired} note={hintOf(property)} problem={problem}>
      {property.enum ? (
        <select
          {...common}
          value={String(value ?? "")}
          onChange={(event) => onChange(property.enum?.find((one) => String(one) === event.currentTarget.value))}
        >
          <option value="">…</option>
          {property.enum.map((one) => (
            <option key={String(one)}>{String(one)}</option>
          ))}
        </select>
      ) : property.type === "boolean" ? (
        <select
          {...common}
          value={value === undefined ? "" : String(value)}
          onChange={(event) => onChange({ true: true, false: false }[event.currentTarget.value])}
        >
          <option value="">…</option>
          <option>true</option>
          <option>false</option>
        </select>
      ) : (
        <input
          {...common}
          type={isNumber ? "number" : "text"}
          step={property.type === "number" ? "any" : undefined}
          value={value === undefined ? "" : String(value)}
          onInput={(event) => {
            const text = event.currentTarget.value;
            onChange(text === "" ? undefined : isNumber ? Number(text) : text);
          }}
        />
      )}
    </Field>
  );
}

const TYPES: Record<string, string> = { string: "text", integer: "whole number", number: "number", boolean: "" };

function hintOf({ description, minimum, maximum, type }: Property): string {
  const limits =
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum !== undefined
        ? `at least ${minimum}`
        : maximum !== undefined
          ? `at most ${maximum}`
          : "";
  return [description, limits || TYPES[type ?? ""]].filter(Boolean).join(", ");
}

interface JsonProps {
  label: string;
  field: string;
  value: unknown;
  note?: string;
  problem: string | undefined;
  onChange: (value: Record<string, unknown>) => void;
}

/** An object as JSON text. While the text is not an object, the last valid value stays. */
export function JsonField({ label, field, value, note, problem, onChange }: JsonProps) {
  const [text, setText] = useState(() => jsonOf(value));
  const [isValid, setValid] = useState(true);
  const change = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next || "{}");
      const isObject = parsed !== null && typeof parsed === "object" && !Array.isArray(parsed);
      setValid(isObject);
      if (isObject) onChange(parsed as Record<string, unknown>);
    } catch {
      setValid(false);
    }
  };
  return (
    <Field id={field} label={label} note={note} problem={isValid ? problem : "Not a JSON object"}>
      <textarea
        id={field}
        class="input"
        rows={Math.min(12, Math.max(3, text.split("\n").length))}
        aria-invalid={!isValid || Boolean(problem)}
        aria-describedby={`${field}-note`}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </Field>
  );
}
