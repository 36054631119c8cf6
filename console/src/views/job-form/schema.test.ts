import { describe, expect, it } from "vitest";
import { blankOf, editorOf, resolved, type Schema, titleOf, variantOf } from "./schema";

describe("the editor of a schema", () => {
  it.each<[Schema, string]>([
    [{ type: "string" }, "text"],
    [{ type: ["string", "null"] }, "text"],
    [{ type: "integer" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ enum: ["eu", 1] }, "choice"],
    [{ const: "notice" }, "choice"],
    [{ type: "array", items: { type: "string" } }, "list"],
    [{ type: "array", items: { enum: ["a", "b"] } }, "set"],
    [{ type: "object", properties: { a: { type: "string" } } }, "object"],
    [{ properties: { a: {} } }, "object"],
    [{ type: "object", additionalProperties: { type: "string" } }, "map"],
    [{ oneOf: [{ type: "string" }, { type: "integer" }] }, "variant"],
    [{ type: ["string", "integer"] }, "json"],
    [{ type: "object" }, "json"],
    [{ type: "array" }, "json"],
    [{}, "json"],
  ])("of %j is %s", (schema, kind) => {
    expect(editorOf(schema, undefined).kind).toBe(kind);
  });

  it.each<[Schema, unknown]>([
    [{ type: "string" }, 1],
    [{ type: "array", items: { type: "string" } }, "a"],
    [{ type: "array", items: { enum: ["a"] } }, ["b"]],
    [{ properties: { a: {} } }, { b: 1 }],
    [{ enum: ["eu"] }, "us"],
    [{ oneOf: [{ type: "string" }] }, 1],
  ])("of %j is JSON for the value %j, so that no value is lost", (schema, value) => {
    expect(editorOf(schema, value).kind).toBe("json");
  });

  it("is JSON for deep values, because a schema may refer to itself", () => {
    expect([4, 5].map((level) => editorOf({ properties: { a: {} } }, undefined, level).kind)).toEqual([
      "object",
      "json",
    ]);
  });
});

describe("a reference", () => {
  const root: Schema = { $defs: { Record: { type: "object", properties: { id: { type: "integer" } } } } };

  it("is resolved, and keeps what is beside it", () => {
    expect(resolved({ $ref: "#/$defs/Record", description: "One row" }, root)).toEqual({
      type: "object",
      properties: { id: { type: "integer" } },
      description: "One row",
    });
  });

  it("to nothing or to itself ends", () => {
    expect(editorOf(resolved({ $ref: "#/$defs/None" }, root), undefined).kind).toBe("json");
    const loop: Schema = { $defs: { A: { $ref: "#/$defs/A" } } };
    expect(editorOf(resolved({ $ref: "#/$defs/A" }, loop), undefined).kind).toBe("json");
  });

  it("is resolved in an optional value and in alternatives", () => {
    expect(editorOf(resolved({ anyOf: [{ $ref: "#/$defs/Record" }, { type: "null" }] }, root), undefined).kind).toBe(
      "object",
    );
    const either = resolved({ anyOf: [{ type: "string" }, { $ref: "#/$defs/Record" }, { type: "null" }] }, root);
    expect(either.oneOf?.map((one) => one.type)).toEqual(["string", "object"]);
  });
});

describe("alternatives", () => {
  const email: Schema = { type: "object", properties: { email: { type: "string" } }, required: ["email"] };
  const options: Schema[] = [
    { const: "notice" },
    email,
    { type: "object", properties: { url: {} }, required: ["url"] },
  ];

  it.each([
    ["notice", 0],
    [{ email: "" }, 1],
    [{ url: "https://x" }, 2],
    [{}, -1],
    ["page", -1],
  ])("recognise %j as number %i", (value, position) => {
    expect(variantOf(options, value)).toBe(position);
  });

  it("begin with a value that they recognise", () => {
    expect(options.map((one, position) => variantOf(options, blankOf(one)) === position)).toEqual([true, true, true]);
    expect(options.map(titleOf)).toEqual(["notice", "email", "url"]);
  });
});

it("adds items with what is required in them", () => {
  const item: Schema = { properties: { name: { type: "string" }, size: { type: "integer" } }, required: ["name"] };
  expect(blankOf(item)).toEqual({ name: "" });
  expect(blankOf({ type: "array", items: item })).toEqual([]);
  expect(blankOf({ enum: ["eu", "us"] })).toBe("eu");
});
