import { beforeEach, expect, test, vi } from "vitest";
import { stubPage } from "../api/page-stub";
import { Problem } from "../api/problem";

const client = vi.hoisted(() => ({ read: vi.fn() }));
vi.mock("../api/client", () => client);
vi.useFakeTimers();
stubPage();
const { isVisible } = await import("./clock");
const { ask, freshness, readAgain, watch } = await import("./watch");

const AWAY = new Problem(503, "away");
let stop = () => {};

beforeEach(() => {
  stop();
  client.read.mockReset();
  isVisible.value = true;
  freshness.value = { at: null, awaySince: null };
});

/** Watch an address, and collect what is reported. */
function watched(everyMs: number): unknown[] {
  const reported: unknown[] = [];
  stop = watch("/jobs", everyMs, (outcome) => reported.push(outcome));
  return reported;
}

const confirmed = (data: unknown) => ({ data, at: new Date() });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("an address is read again and again, until it is stopped", async () => {
  client.read.mockImplementation(async () => confirmed(1));
  const reported = watched(2_000);
  await pass(4_100);
  expect(reported).toHaveLength(3);
  stop();
  await pass(10_000);
  expect(client.read).toHaveBeenCalledTimes(3);
});

test("a hidden tab reads nothing, and reads at once when it is shown", async () => {
  client.read.mockImplementation(async () => confirmed(1));
  watched(2_000);
  await pass(0);
  isVisible.value = false;
  await pass(60_000);
  expect(client.read).toHaveBeenCalledTimes(1);
  isVisible.value = true;
  expect(client.read).toHaveBeenCalledTimes(2);
});

test("all addresses of a view are read again on request, and those of a former view are not", async () => {
  client.read.mockImplementation(async () => confirmed(1));
  watch("/former", 2_000, () => {})();
  watched(0);
  const stopFirst = stop;
  const stopSecond = watch("/total", 0, () => {});
  stop = () => {
    stopFirst();
    stopSecond();
  };
  await pass(0);
  client.read.mockClear();
  readAgain();
  expect(client.read.mock.calls).toEqual([["/jobs"], ["/total"]]);
});

test("an address that is read once is asked again while the API is away", async () => {
  client.read.mockRejectedValueOnce(AWAY).mockImplementationOnce(async () => confirmed(1));
  const reported = watched(0);
  await pass(0);
  expect(reported).toEqual([AWAY]);
  expect(freshness.value.awaySince).toBe(AWAY.at);
  await pass(5_000);
  expect(reported[1]).toMatchObject({ data: 1 });
  expect(freshness.value.awaySince).toBeNull();
  await pass(60_000);
  expect(client.read).toHaveBeenCalledTimes(2);
});

test("a refusal is not asked again", async () => {
  client.read.mockRejectedValue(new Problem(404, "no such job"));
  expect(watched(0)).toEqual([]);
  await pass(60_000);
  expect(client.read).toHaveBeenCalledTimes(1);
  expect(freshness.value.awaySince).toBeNull();
});

test("a slow answer to an earlier read does not replace a newer one, and does not add a timer", async () => {
  let answerLate = (_: unknown) => {};
  client.read.mockImplementationOnce(
    () =>
      new Promise((resolve) => {
        answerLate = resolve;
      }),
  );
  client.read.mockImplementation(async () => confirmed("new"));
  const reported: { data: unknown }[] = [];
  stop = watch("/jobs", 2_000, (outcome) => reported.push(outcome as { data: unknown }));
  isVisible.value = false;
  isVisible.value = true; // reads again
  await pass(0);
  answerLate(confirmed("old"));
  await pass(0);
  expect(reported.map((one) => one.data)).toEqual(["new"]);
  await pass(2_000);
  expect(client.read).toHaveBeenCalledTimes(3);
});

test("a question is asked again while the API is away, as late as the API asks for", async () => {
  const question = vi.fn();
  const later = new Problem(429, "later", [], new Date(), 20_000);
  question.mockRejectedValueOnce(AWAY).mockRejectedValueOnce(later).mockResolvedValueOnce("answer");
  const reported: unknown[] = [];
  stop = ask(question, (one) => reported.push(one));
  await pass(5_000);
  expect(reported).toEqual([AWAY, later]);
  await pass(19_000);
  expect(question).toHaveBeenCalledTimes(2);
  await pass(1_000);
  expect(reported.at(-1)).toBe("answer");
});
