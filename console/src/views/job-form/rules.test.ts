import { describe, expect, it } from "vitest";
import { GROUPS, summaryOf } from "./rules";
import { editorOf, type Schema } from "./schema";

const schemas = new Map(GROUPS.flatMap((group) => Object.entries(group.fields)));

function schemaOf(name: string): Schema {
  return schemas.get(name) as Schema;
}

describe("the fields of a job", () => {
  it.each([
    ["retry", { max_attempts: 5, backoff_seconds: 10, backoff_rate: 2, max_backoff_seconds: 3600 }],
    ["misfire", { policy: "skip", grace_seconds: 300 }],
    ["concurrency", { key: "{dataset}", limit: 1, rate: { starts: 2, per_seconds: 60 } }],
    ["depends_on", [{ job: "01m7", condition: "finished" }]],
    ["partitions", { by: "day", at_once: 3 }],
    ["resources", { vcpu: 0.5, memory_mb: 1024, spot: false }],
    ["container", { image: "load", command: ["run"] }],
    ["backlog", { messages: 500 }],
    ["window", "week"],
    [
      "notify",
      { on: ["failed"], to: ["page", { email: "a@b.c" }, { webhook: { url: "https://x", format: "slack" } }] },
    ],
  ])("edit %s as the API answers it, without JSON", (name, value) => {
    expect(kindsIn(schemaOf(name), value)).not.toContain("json");
  });

  it("are summarised in words", () => {
    expect(summaryOf(schemaOf("retry"), { max_attempts: 5, backoff_seconds: 10 })).toBe("Attempts 5, First wait 10");
    expect(summaryOf(schemaOf("notify"), { to: ["page", { webhook: { url: "https://x" } }] })).toBe(
      "To page, https://x",
    );
    expect(summaryOf(schemaOf("window"), undefined)).toBe("");
  });
});

/** The kinds of the editors of a value and its parts. */
function kindsIn(schema: Schema, value: unknown): string[] {
  const editor = editorOf(schema, value);
  const parts =
    editor.kind === "object"
      ? Object.entries(value as object).map(([name, one]) => [editor.properties[name] ?? {}, one] as const)
      : editor.kind === "list"
        ? (value as unknown[]).map((one) => [editor.item, one] as const)
        : [];
  return [editor.kind, ...parts.flatMap(([part, one]) => kindsIn(part, one))];
}
