import { expect, it } from "vitest";
import { tagsOf, tagsText } from "./plain";

it("reads and writes tags, also with a colon in the value", () => {
  expect(tagsOf(" dataset:orders, url:https://x ,")).toEqual({ dataset: "orders", url: "https://x" });
  expect(tagsText({ dataset: "orders", country: "nl" })).toBe("dataset:orders, country:nl");
  expect(tagsOf("  ")).toBeNull();
});
