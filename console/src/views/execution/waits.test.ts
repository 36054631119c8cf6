import { expect, it } from "vitest";
import { zone } from "../../format/time";
import { nameOfWaited, pastWaits, waitingWords } from "./waits";

zone.value = "UTC";
const ID = "20261117T201400000Z-01m7j3myg0ek38e4ygjbdtdd00";

function waiting(what: string, more: object = {}) {
  return { what, detail: `waits for ${ID}`, ahead: null, executions: [], ...more } as never;
}

it("says what an execution waits for without ids", () => {
  expect(waitingWords(waiting("slot", { ahead: 2 }))).toBe("Waits for a slot of the long lane, 2 ahead");
  expect(waitingWords(waiting("executions", { executions: [ID] }))).toBe("Waits for 1\u00a0other execution of its job");
  expect(waitingWords(waiting("key", { detail: "2 executions with the same concurrency key are running" }))).toBe(
    "2 executions with the same concurrency key are running",
  );
});

it("names an execution by its job and its due instant", () => {
  expect(nameOfWaited(ID, { [ID]: "orders" })).toMatch(/^orders, due .*20:14$/);
  expect(nameOfWaited(ID, {})).toMatch(/^due .*20:14 · …dtdd00$/);
});

it("adds up what an execution has waited for, and of several parts takes the longest", () => {
  const wait = (reason: string, from: number, to: number, part: string | null = null) => ({
    kind: "waited",
    at: new Date(from * 1000).toISOString(),
    until: new Date(to * 1000).toISOString(),
    reason,
    part,
  });
  const events = [
    wait("for a worker", 0, 10),
    wait("for a slot", 10, 70, "0001"),
    wait("for a slot", 10, 30, "0002"),
    wait("for a slot", 40, 90, "0002"),
  ] as never;
  expect(pastWaits({ events })).toEqual([
    { reason: "A slot", seconds: 70 },
    { reason: "A worker", seconds: 10 },
  ]);
});
