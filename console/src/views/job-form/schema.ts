/** Which editor a JSON Schema gets, and the values that an editor starts with: pure functions. */

export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  default?: unknown;
  minimum?: number;
  [keyword: string]: unknown;
}

export type Editor =
  | { kind: "text" | "boolean" | "json" }
  | { kind: "number"; isWhole: boolean }
  | { kind: "choice"; values: unknown[] }
  | { kind: "set"; values: unknown[] }
  | { kind: "object"; properties: Record<string, Schema>; required: string[] }
  | { kind: "map"; item: Schema }
  | { kind: "list"; item: Schema }
  | { kind: "variant"; options: Schema[] };

/** Deeper values are edited as JSON: a schema may refer to itself. */
const MOST_LEVELS = 4;
const MOST_HOPS = 10;

/** The editor of a value. JSON for a value that does not have the type of its schema, and for a schema without a type. */
export function editorOf(schema: Schema, value: unknown, level = 0): Editor {
  const editor = level > MOST_LEVELS ? JSON_EDITOR : editorOfSchema(schema);
  return value === undefined || isEditable(editor, value) ? editor : JSON_EDITOR;
}

const JSON_EDITOR: Editor = { kind: "json" };

function editorOfSchema(schema: Schema): Editor {
  const options = schema.oneOf ?? schema.anyOf;
  if (options) return { kind: "variant", options };
  if (schema.const !== undefined) return { kind: "choice", values: [schema.const] };
  if (schema.enum) return { kind: "choice", values: schema.enum };
  switch (typeOf(schema)) {
    case "string":
      return { kind: "text" };
    case "boolean":
      return { kind: "boolean" };
    case "integer":
    case "number":
      return { kind: "number", isWhole: typeOf(schema) === "integer" };
    case "array":
      return schema.items?.enum ? { kind: "set", values: schema.items.enum } : listOf(schema.items);
    case "object":
      return objectOf(schema);
    default:
      return JSON_EDITOR;
  }
}

function listOf(items: Schema | undefined): Editor {
  return items ? { kind: "list", item: items } : JSON_EDITOR;
}

function objectOf({ properties, required = [], additionalProperties }: Schema): Editor {
  if (properties) return { kind: "object", properties, required };
  return typeof additionalProperties === "object" ? { kind: "map", item: additionalProperties } : JSON_EDITOR;
}

function isEditable(editor: Editor, value: unknown): boolean {
  switch (editor.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" || value === null;
    case "boolean":
      return typeof value === "boolean";
    case "choice":
      return editor.values.includes(value);
    case "set":
      return Array.isArray(value) && value.every((one) => editor.values.includes(one));
    case "list":
      return Array.isArray(value);
    case "map":
      return isObject(value);
    case "object":
      return isObject(value) && Object.keys(value).every((name) => name in editor.properties);
    case "variant":
      return variantOf(editor.options, value) >= 0;
    default:
      return true;
  }
}

/** The position of the first option that a value can be, or -1. */
export function variantOf(options: Schema[], value: unknown): number {
  return options.findIndex((one) => fits(one, value));
}

function fits(schema: Schema, value: unknown): boolean {
  const editor = editorOfSchema(schema);
  if (!isEditable(editor, value)) return false;
  return editor.kind !== "object" || editor.required.every((name) => name in (value as object));
}

/** A value of an item that is added, with what is required in it. */
export function blankOf(schema: Schema): unknown {
  const editor = editorOfSchema(schema);
  switch (editor.kind) {
    case "text":
      return "";
    case "number":
      return null;
    case "boolean":
      return false;
    case "choice":
      return editor.values[0];
    case "set":
    case "list":
      return [];
    case "map":
      return {};
    case "object":
      return Object.fromEntries(editor.required.map((name) => [name, blankOf(editor.properties[name] ?? {})]));
    case "variant":
      return blankOf(editor.options[0] ?? {});
    default:
      return null;
  }
}

/** The schema with its references resolved, and without what only allows null. */
export function resolved(schema: Schema, root: Schema, hops = 0): Schema {
  const next = referred(schema, root) ?? onlyOption(schema);
  if (!next || hops > MOST_HOPS) return withOptions(schema, root);
  const { $ref: _, anyOf: __, oneOf: ___, allOf: ____, ...rest } = schema;
  return { ...resolved(next, root, hops + 1), ...rest };
}

function withOptions(schema: Schema, root: Schema): Schema {
  const options = schema.oneOf ?? schema.anyOf;
  if (!options) return schema;
  return { ...schema, oneOf: options.filter((one) => one.type !== "null").map((one) => resolvedOption(one, root)) };
}

function resolvedOption(schema: Schema, root: Schema): Schema {
  const { $ref: _, ...rest } = schema;
  return { ...(referred(schema, root) ?? {}), ...rest };
}

function referred({ $ref }: Schema, root: Schema): Schema | null {
  if (!$ref?.startsWith("#/")) return null;
  const found = $ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], root);
  return isObject(found) ? (found as Schema) : null;
}

function onlyOption({ anyOf, oneOf, allOf }: Schema): Schema | null {
  const options = (anyOf ?? oneOf ?? allOf ?? []).filter((one) => one.type !== "null");
  return options.length === 1 ? (options[0] ?? null) : null;
}

/** The only type of a schema apart from null. */
function typeOf({ type, properties }: Schema): string | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null");
  if (types.length > 1) return undefined;
  return types[0] ?? (properties ? "object" : undefined);
}

/** The name of an option of a variant. */
export function titleOf(schema: Schema): string {
  const [property] = Object.keys(schema.properties ?? {});
  return schema.title ?? String(schema.const ?? property ?? typeOf(schema) ?? "JSON");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
