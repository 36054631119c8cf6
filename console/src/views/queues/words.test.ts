import { expect, test } from "vitest";
import type { Queue } from "../../api/types";
import { againstUsual, limitsInWords, rate, verdict, withGaps } from "./words";

const queue = (name: string, depth: number, minutes: number | null) =>
  ({ queue: name, depth, minutes_until_breach: minutes }) as Queue;

test("the most urgent queue is the verdict", () => {
  const found = verdict([queue("low", 9, 50), queue("normal", 9, 14), queue("high", 0, null)]);
  expect(found).toEqual({ text: "normal is over its limit in 14\u00a0min, and low", isDanger: true });
  expect(verdict([queue("low", 9, 0)]).text).toBe("low is over its limit");
});

test("queues without danger are all right, and may be empty", () => {
  expect(verdict([queue("low", 9, null)])).toEqual({ text: "All queues drain within their limit", isDanger: false });
  expect(verdict([queue("low", 0, null)]).text).toBe("No message waits");
});

test("an unknown rate is not zero", () => {
  expect([rate(null), rate(0), rate(12.345)]).toEqual(["Unknown", "0", "12.3"]);
});

test("arrivals are compared with the usual ones", () => {
  expect(againstUsual(58, 14)).toBe("4.1 times the usual 14");
  expect(againstUsual(15, 14)).toBe("usual 14");
  expect(againstUsual(15, null)).toBe("usual rate unknown");
});

test("the limits of a backlog are named if there are any", () => {
  expect(limitsInWords({ messages: 500, minutes: 30 })).toBe("500\u00a0messages, 30\u00a0min");
  expect(limitsInWords(null)).toBe("");
});

test("where samples are missing, the depth is unknown", () => {
  const points = ["12:00", "12:05", "14:00"].map((time) => ({ at: `2026-11-19T${time}:00.000Z`, depth: 3 }));
  expect(withGaps(points).map((one) => one.depth)).toEqual([3, 3, null, 3]);
});
