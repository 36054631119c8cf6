import { describe, expect, it } from "vitest";
import { inputOf, notifyOf, notifyText, tagsOf, tagsText, withLimit } from "./plain";

it("reads and writes tags, also with a colon in the value", () => {
  expect(tagsOf(" dataset:orders, url:https://x ,")).toEqual({ dataset: "orders", url: "https://x" });
  expect(tagsText({ dataset: "orders", country: "nl" })).toBe("dataset:orders, country:nl");
  expect(tagsOf("  ")).toBeNull();
});

describe("destinations", () => {
  it("are recognised by their form", () => {
    expect(notifyOf("page, ops@example.com, arn:aws:sns:eu:1:t", null)).toEqual({
      to: ["page", { email: "ops@example.com" }, { sns: "arn:aws:sns:eu:1:t" }],
    });
  });

  it("keep the events", () => {
    expect(notifyOf("page", { to: "notice", on: ["failed"] })).toEqual({ to: "page", on: ["failed"] });
    expect(notifyOf("", { to: "notice" })).toBeNull();
  });

  it("have no short form if there is a webhook", () => {
    expect(notifyText({ to: ["notice", { email: "a@b" }] })).toBe("notice, a@b");
    expect(notifyText({ to: { webhook: { url: "https://x" } } })).toBeNull();
  });
});

it("leaves the backlog out when no limit is left", () => {
  expect(withLimit(null, "messages", "500")).toEqual({ messages: 500 });
  expect(withLimit({ messages: 500, minutes: 5 }, "messages", "")).toEqual({ minutes: 5 });
  expect(withLimit({ messages: 500 }, "messages", "")).toBeNull();
});

it.each([
  ["parameters.dataset", "parameter-dataset"],
  ["schedule.cron", "schedule.cron"],
  ["schedule.skip.0", "schedule.skip"],
  ["deadline.within_seconds", "deadline"],
  ["deadline.by.cron", "deadline.by"],
  ["name", "name"],
])("shows a refusal of %s at the input %s", (field, id) => {
  expect(inputOf(field)).toBe(id);
});
