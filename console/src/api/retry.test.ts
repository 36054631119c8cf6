import { expect, test } from "vitest";
import { acceptsKey, isRead } from "./retry";
import schema from "./schema.ts?raw";

test("exactly the requests that the OpenAPI document says accept a key have one", () => {
  const posts = [...schema.matchAll(/^ {4}"(\/[^"]*)": \{[\s\S]*?^ {4}\};/gm)].flatMap(([text, path]) => {
    const operation = /^ {8}post: operations\["(\w+)"\]/m.exec(text)?.[1];
    return operation && path ? [{ path, operation }] : [];
  });
  const definitions = [...schema.matchAll(/^ {4}(\w+_post): \{[\s\S]*?^ {8}\};/gm)];
  const keyed = new Set(definitions.filter(([text]) => text.includes('"idempotency-key"')).map(([, name]) => name));
  expect(keyed.size).toBeGreaterThan(5);
  expect(posts.filter(({ path }) => acceptsKey("POST", path)).map(({ operation }) => operation)).toEqual(
    posts.filter(({ operation }) => keyed.has(operation)).map(({ operation }) => operation),
  );
});

test("dry runs and previews write nothing", () => {
  expect(isRead("POST", "/jobs?dry_run=true")).toBe(true);
  expect(isRead("POST", "/schedules/preview")).toBe(true);
  expect(isRead("GET", "/jobs")).toBe(true);
  expect(isRead("POST", "/jobs?dry_run=false")).toBe(false);
});
