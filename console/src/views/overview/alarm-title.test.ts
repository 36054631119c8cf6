import { expect, it } from "vitest";
import { alarmTitle } from "./alarm-title";

it.each([
  ["Punctual-BacklogDrainTime", "Backlog drain time"],
  ["Punctual-prod-TickMissed", "Tick missed"],
  ["custom", "custom"],
])("reads %s as %s", (name, title) => {
  expect(alarmTitle(name)).toBe(title);
});
