import { expect, it, vi } from "vitest";

vi.mock("../../router", () => ({ withQuery: (changes: { do: string }) => `?do=${changes.do}` }));

import { stepsOfItem } from "./steps";

const item = (kind: string, id: string, more: object = {}) =>
  ({ kind, subject: { id }, deadline: null, ...more }) as never;
const texts = (one: never) => stepsOfItem(one).map((step) => `${step.text} ${step.to}`);

it("offers what helps a queue, and for a paused job that it is resumed", () => {
  expect(texts(item("queue", "normal"))).toEqual([
    "Set to low… /queues?queue=normal&do=low",
    "Who fills it /queues?queue=normal",
  ]);
  expect(texts(item("queue", "low"))).toEqual(["Who fills it /queues?queue=low"]);
  expect(texts(item("backlog", "job", { remedy: "resume it with POST" }))).toEqual([
    "Resume… ?do=resume.job",
    "Open /jobs/job",
  ]);
});

it("opens the view that shows the cause of an alarm", () => {
  expect(texts(item("alarm", "Punctual-DispatchLate"))).toEqual(["Open /executions?status=scheduled,queued,waiting"]);
  expect(texts(item("alarm", "Punctual-prod-BacklogSize"))).toEqual(["Open /queues"]);
  expect(texts(item("alarm", "Punctual-Throttled"))).toEqual([]);
});

it("opens an execution in danger, also if nothing can be changed", () => {
  const id = "20261115T070000000Z-01m7j3myg0ek38e4ygjbdtdd00";
  expect(texts(item("deadline", id))).toEqual([`Open /executions/${id}`]);
});
