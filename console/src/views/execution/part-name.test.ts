import { expect, it } from "vitest";
import { partName } from "./part-name";

const year = new Date().getUTCFullYear();
const window = (start: string, end: string) => ({ start, end }) as never;

it("names a part that covers a day after the day in the zone of the job", () => {
  const part = { part: "0001", window: window(`${year}-06-09T04:00:00Z`, `${year}-06-10T04:00:00Z`) };
  expect(partName(part, "America/New_York")).toMatch(/^\w{3} 9 Jun$/);
});

it("names others after their instant, number or role", () => {
  expect(partName({ part: "0003", window: null }, "UTC")).toBe("Part 3");
  expect(partName({ part: "collect", window: null }, "UTC")).toBe("Collect");
  const hour = { part: "0001", window: window("2020-06-09T04:00:00Z", "2020-06-09T05:00:00Z") };
  expect(partName(hour, "UTC")).toContain(":00");
});
