/** Editors of values that have parts: objects, lists, maps, sets of given values, and alternatives. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../../components/icon";
import { capitalised } from "../../format/text";
import { Field } from "./field";
import { useProblem, useReport } from "./problems";
import { blankOf, type Editor, editorOf, type Schema, titleOf, variantOf } from "./schema";
import { ValueField, type ValueProps } from "./value-field";

type Fields = Record<string, unknown>;

interface GroupProps extends Pick<ValueProps, "path" | "label" | "isRequired" | "schema"> {
  children: ComponentChildren;
}

/** A named group of fields, with the problem of the whole. It can have the focus, so that a link leads to it. */
function Group({ path, label, schema, isRequired, children }: GroupProps) {
  const problem = useProblem(path);
  const note = problem ?? schema.description;
  return (
    <fieldset id={path} class="parts" tabIndex={-1}>
      <legend>
        {label} {!isRequired && !schema.words && <span class="dim">optional</span>}
      </legend>
      {note && <p class={problem ? "note error" : "note"}>{note}</p>}
      {children}
    </fieldset>
  );
}

type ObjectEditor = Extract<Editor, { kind: "object" }>;

export function ObjectFields({ editor, ...props }: ValueProps & { editor: ObjectEditor }) {
  return (
    <Group {...props}>
      <Properties {...props} editor={editor} />
    </Group>
  );
}

/** The fields of an object. It is left out once all of them are, unless it is required. */
export function Properties({
  editor,
  path,
  root,
  value,
  onChange,
  isRequired,
  level,
  keepsEmpty,
}: ValueProps & { editor: ObjectEditor }) {
  const fields = (value ?? {}) as Fields;
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = fields;
    const changed = next === undefined ? rest : { ...rest, [name]: next };
    onChange(Object.keys(changed).length || isRequired ? changed : undefined);
  };
  return (
    <div class="form-grid">
      {Object.entries(editor.properties).map(([name, schema]) => (
        <ValueField
          key={name}
          path={`${path}.${name}`}
          label={schema.title && schema.words ? schema.title : name}
          schema={schema}
          root={root}
          value={fields[name]}
          isRequired={editor.required.includes(name)}
          keepsEmpty={Boolean(keepsEmpty) && editor.required.includes(name)}
          level={level ?? 0}
          onChange={(next) => set(name, next)}
        />
      ))}
    </div>
  );
}

export function ListFields({ item, ...props }: ValueProps & { item: Schema }) {
  const { path, label, root, value, onChange, isRequired, level } = props;
  const items = (value ?? []) as unknown[];
  const set = (next: unknown[]) => onChange(next.length || isRequired ? next : undefined);
  return (
    <Group {...props}>
      {items.map((one, position) => (
        <Row
          key={position}
          name={`${label} ${position + 1}`}
          onRemove={() => set(items.filter((_, at) => at !== position))}
        >
          <ValueField
            path={`${path}.${position}`}
            label={`${label} ${position + 1}`}
            schema={item}
            root={root}
            value={one}
            isRequired
            keepsEmpty
            level={level ?? 0}
            onChange={(next) => set(items.map((other, at) => (at === position ? (next ?? blankOf(item)) : other)))}
          />
        </Row>
      ))}
      <div class="actions">
        <Add onAdd={() => set([...items, blankOf(item)])} label={label} />
        {isRequired && value === undefined && (
          <button type="button" class="button is-plain" onClick={() => onChange([])}>
            Leave empty
          </button>
        )}
      </div>
    </Group>
  );
}

/** Names and values. Rows without a name are kept while they are typed, and left out of the value. */
export function MapFields({ item, ...props }: ValueProps & { item: Schema }) {
  const { path, label, root, value, onChange, isRequired, level } = props;
  const [typed, setTyped] = useState<[string, unknown][]>(Object.entries((value ?? {}) as Fields));
  const isCurrent = JSON.stringify(objectOf(typed)) === JSON.stringify(value ?? {});
  const rows = isCurrent ? typed : Object.entries((value ?? {}) as Fields);
  const names = rows.map(([name]) => name);
  const twice = names.find((name, position) => name && names.indexOf(name) !== position);
  useReport(path, twice === undefined ? null : `has ${twice} twice: keep one of the two`);
  const set = (next: [string, unknown][]) => {
    setTyped(next);
    const changed = objectOf(next);
    onChange(Object.keys(changed).length || isRequired ? changed : undefined);
  };
  const replace = (position: number, row: [string, unknown]) =>
    set(rows.map((other, at) => (at === position ? row : other)));
  return (
    <Group {...props}>
      {rows.map(([name, one], position) => (
        <Row key={position} name={name || "the row"} onRemove={() => set(rows.filter((_, at) => at !== position))}>
          <input
            class="input"
            aria-label={`Name ${position + 1} of ${label}`}
            placeholder="Name"
            value={name}
            onInput={(event) => replace(position, [event.currentTarget.value, one])}
          />
          <ValueField
            path={`${path}.${name}`}
            label={name || "Value"}
            schema={item}
            root={root}
            value={one}
            isRequired
            keepsEmpty
            level={level ?? 0}
            onChange={(next) => replace(position, [name, next ?? blankOf(item)])}
          />
        </Row>
      ))}
      <Add onAdd={() => setTyped([...rows, ["", blankOf(item)]])} label={label} />
    </Group>
  );
}

function objectOf(rows: [string, unknown][]): Fields {
  return Object.fromEntries(rows.filter(([name]) => name));
}

/** Some of a few values. Without a value, its default is shown; a choice is explicit, also that of none. */
export function SetFields({ values, ...props }: ValueProps & { values: unknown[] }) {
  const { value, onChange, schema, isRequired } = props;
  const hasDefault = Array.isArray(schema.default);
  const chosen = (value ?? schema.default ?? []) as unknown[];
  const set = (one: unknown, isChosen: boolean) => {
    const next = values.filter((other) => (other === one ? isChosen : chosen.includes(other)));
    onChange(next.length || isRequired || hasDefault ? next : undefined);
  };
  return (
    <Group {...props}>
      <div class="chips">
        {values.map((one) => (
          <label key={String(one)} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(one)}
              onChange={(event) => set(one, event.currentTarget.checked)}
            />
            {schema.words ? capitalised(String(one).replaceAll("_", " ")) : String(one)}
          </label>
        ))}
      </div>
    </Group>
  );
}

/** One of several forms of a value: the choice of the form, and the fields of the chosen one. */
export function VariantFields({ options, ...props }: ValueProps & { options: Schema[] }) {
  const { path, label, value, onChange, isRequired, schema } = props;
  const problem = useProblem(path);
  const chosen = value === undefined ? -1 : variantOf(options, value);
  const option = options[chosen];
  const editor = option && editorOf(option, value);
  const isShownHere = editor?.kind === "object" || option?.const !== undefined;
  return (
    <div class="variant">
      <Field
        id={`${path}.form`}
        label={label}
        isOptional={!isRequired}
        note={schema.description}
        problem={isShownHere ? problem : undefined}
      >
        <select
          id={`${path}.form`}
          class="input"
          value={chosen}
          onChange={(event) => {
            const next = options[Number(event.currentTarget.value)];
            onChange(next && blankOf(next));
          }}
        >
          {(!isRequired || chosen < 0) && <option value="-1">…</option>}
          {options.map((one, position) => (
            <option key={titleOf(one)} value={position}>
              {titleOf(one)}
            </option>
          ))}
        </select>
      </Field>
      {editor?.kind === "object" && <Properties {...props} editor={editor} isRequired keepsEmpty />}
      {option && !isShownHere && (
        <ValueField {...props} schema={option} label={titleOf(option)} isRequired keepsEmpty />
      )}
    </div>
  );
}

function Row({ name, onRemove, children }: { name: string; onRemove: () => void; children: ComponentChildren }) {
  return (
    <div class="part-row">
      {children}
      <button type="button" class="button is-icon is-plain" aria-label={`Remove ${name}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </div>
  );
}

function Add({ label, onAdd }: { label: string; onAdd: () => void }) {
  return (
    <button type="button" class="button" onClick={onAdd}>
      <Icon name="plus" /> Add<span class="visually-hidden"> to {label}</span>
    </button>
  );
}
