import { expect, test } from "vitest";
import { exampleOf, parametersOf } from "./parameters";

const SCHEMA = {
  type: "object",
  properties: {
    dataset: { type: "string", enum: ["orders", "payments"], description: "What to check." },
    seconds: { type: "number", minimum: 0, maximum: 604800 },
    fields: { type: "array", items: { type: "string" }, minItems: 1 },
    note: { type: ["string", "null"], default: null },
  },
  required: ["dataset", "seconds", "fields"],
};

test("each property is a row with type, limits and default", () => {
  expect(parametersOf(SCHEMA)).toEqual([
    {
      name: "dataset",
      type: "choice",
      isRequired: true,
      limits: "one of: orders, payments",
      description: "What to check.",
    },
    { name: "seconds", type: "number", isRequired: true, limits: "0 to 604,800", description: "" },
    { name: "fields", type: "array of string", isRequired: true, limits: "at least 1 items", description: "" },
    { name: "note", type: "string or null", isRequired: false, limits: "", description: "Default: null." },
  ]);
});

test("the example has what is required, within its limits", () => {
  expect(exampleOf(SCHEMA)).toEqual({ dataset: "orders", seconds: 0, fields: ["text"] });
  expect(exampleOf({ ...SCHEMA, examples: [{ dataset: "payments" }] })).toEqual({ dataset: "payments" });
});

test("a schema without properties has no rows", () => {
  expect(parametersOf({ type: "object" })).toEqual([]);
  expect(exampleOf({ type: "object" })).toEqual({});
});
