/** The JSON Schema of a task's parameters as rows of a table, and an example that satisfies it. */

type Schema = Record<string, unknown>;

export interface Parameter {
  name: string;
  type: string;
  isRequired: boolean;
  /** `1 to 600`, `one of: eu, us`. */
  limits: string;
  description: string;
}

export function parametersOf(schema: Schema): Parameter[] {
  const required = new Set(asList(schema.required));
  return Object.entries(asSchema(schema.properties)).map(([name, value]) => {
    const property = asSchema(value);
    return {
      name,
      type: typeOf(property),
      isRequired: required.has(name),
      limits: limitsOf(property),
      description: [property.description, "default" in property && `Default: ${JSON.stringify(property.default)}.`]
        .filter(Boolean)
        .join(" "),
    };
  });
}

/** Parameters that a job could have: the example of the schema, or one of each required property. */
export function exampleOf(schema: Schema): unknown {
  const given = asList(schema.examples)[0] ?? schema.default ?? asList(schema.enum)[0];
  if (given !== undefined) return given;
  if (schema.const !== undefined) return schema.const;
  const properties = asSchema(schema.properties);
  switch (firstType(schema)) {
    case "object": {
      const required = asList(schema.required).map(String);
      return Object.fromEntries(required.map((name) => [name, exampleOf(asSchema(properties[name]))]));
    }
    case "array":
      return Number(schema.minItems ?? 0) > 0 ? [exampleOf(asSchema(schema.items))] : [];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "text";
  }
}

function typeOf(property: Schema): string {
  if (Array.isArray(property.enum)) return "choice";
  const types = asList(property.type).map(String);
  if (types.length === 0) return property.properties ? "object" : "any";
  const items = asSchema(property.items);
  return types.map((one) => (one === "array" && items.type ? `array of ${typeOf(items)}` : one)).join(" or ");
}

export function limitsOf(property: Schema): string {
  const parts: string[] = [];
  if (Array.isArray(property.enum)) parts.push(`one of: ${property.enum.join(", ")}`);
  const [least, most] = [inDigits(property.minimum), inDigits(property.maximum)];
  if (least !== undefined && most !== undefined) parts.push(`${least} to ${most}`);
  else if (least !== undefined) parts.push(`at least ${least}`);
  else if (most !== undefined) parts.push(`at most ${most}`);
  if (property.exclusiveMinimum !== undefined) parts.push(`more than ${property.exclusiveMinimum}`);
  if (property.exclusiveMaximum !== undefined) parts.push(`less than ${property.exclusiveMaximum}`);
  if (property.minItems !== undefined) parts.push(`at least ${property.minItems} items`);
  if (property.maxItems !== undefined) parts.push(`at most ${property.maxItems} items`);
  if (property.maxLength !== undefined) parts.push(`at most ${property.maxLength} characters`);
  if (property.pattern !== undefined) parts.push(`matches ${property.pattern}`);
  if (property.format !== undefined) parts.push(String(property.format));
  return parts.join(", ");
}

function inDigits(value: unknown): unknown {
  return typeof value === "number" ? value.toLocaleString("en-US", { maximumFractionDigits: 20 }) : value;
}

function firstType(schema: Schema): string {
  const [type] = asList(schema.type);
  return type === undefined ? (schema.properties ? "object" : "string") : String(type);
}

function asSchema(value: unknown): Schema {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Schema) : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
