import { expect, it } from "vitest";
import { alarmTitle } from "./alarm-title";

it.each([
  ["Punctual-prod-BacklogDrainTime", "Backlog drain time"],
  ["Punctual-a-b-TickMissed", "Tick missed"],
  ["Punctual-prod-Throttled-worker", "Throttled: worker"],
  ["custom", "custom"],
])("reads %s as %s", (name, title) => {
  expect(alarmTitle(name)).toBe(title);
});
