import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { answer, stubPage } from "./page-stub";

const auth = vi.hoisted(() => ({
  accessToken: vi.fn(async () => "token"),
  renew: vi.fn(async () => true),
  signIn: vi.fn(async () => {}),
}));
vi.mock("./auth", () => auth);
stubPage();
const { read, remembered, send } = await import("./client");

type Fetch = (url: URL, init: RequestInit) => Promise<Response>;
const fetched = vi.fn<Fetch>();
const NO_ANSWER = () => Promise.reject(new TypeError("Failed to fetch"));
const fails = (status: number, headers = {}) => Promise.resolve(answer({ detail: "not now" }, status, headers));
const succeeds = (body: unknown = {}, headers = {}) => Promise.resolve(answer(body, 200, headers));

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", fetched);
  fetched.mockReset();
  auth.renew.mockClear();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The outcome, once all pauses have passed. */
async function settled<T>(promise: Promise<T>) {
  const outcome = promise.then(
    (value) => ({ value, problem: null }),
    (problem) => ({ value: null, problem }),
  );
  await vi.runAllTimersAsync();
  return outcome;
}

const headersOf = (call: number) => new Headers(fetched.mock.calls[call]?.[1].headers);
const keyOf = (call: number) => headersOf(call).get("Idempotency-Key");

describe("a read", () => {
  test("is repeated after no answer, an error of the server, and a throttle", async () => {
    for (const failure of [NO_ANSWER, () => fails(500), () => fails(503), () => fails(429)]) {
      fetched.mockReset();
      fetched.mockImplementationOnce(failure).mockImplementationOnce(() => succeeds({ items: [1] }));
      expect((await settled(read("/jobs"))).value?.data).toEqual({ items: [1] });
      expect(fetched).toHaveBeenCalledTimes(2);
    }
  });

  test("is given up after three tries", async () => {
    fetched.mockImplementation(() => fails(503));
    const { problem } = await settled(read("/jobs"));
    expect(problem).toMatchObject({ status: 503, message: "not now", isAway: true, retryMs: 5_000 });
    expect(fetched).toHaveBeenCalledTimes(3);
  });

  test("waits as long as the API asks for", async () => {
    fetched.mockImplementationOnce(() => fails(429, { "Retry-After": "3" })).mockImplementationOnce(() => succeeds());
    const outcome = read("/jobs");
    await vi.advanceTimersByTimeAsync(2_900);
    expect(fetched).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(fetched).toHaveBeenCalledTimes(2);
    await outcome;
  });

  test("leaves a long wait to the view", async () => {
    fetched.mockImplementation(() => fails(503, { "Retry-After": "60" }));
    const { problem } = await settled(read("/jobs"));
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(problem.retryMs).toBe(60_000);
  });

  test("is not repeated if the answer would be the same", async () => {
    fetched.mockImplementation(() => fails(404));
    const { problem } = await settled(read("/jobs/none"));
    expect(problem).toMatchObject({ status: 404, isAway: false, retryMs: null });
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  test("fails with the fields that are refused, and with the message of what concerns no field", async () => {
    const errors = [
      { field: "owner", message: "must be a team of yours" },
      { field: null, message: "this requires the role operator" },
    ];
    fetched.mockImplementation(async () => answer({ detail: "both", errors }, 422));
    expect((await settled(read("/jobs"))).problem).toMatchObject({ message: "both", fields: [errors[0]] });
  });

  test("sends the entity tag, and an unchanged answer renews the age of the data", async () => {
    fetched.mockImplementationOnce(() => succeeds({ items: [] }, { ETag: '"1"' }));
    const first = (await settled(read("/tagged"))).value;
    vi.setSystemTime(Date.now() + 60_000);
    fetched.mockImplementationOnce(() => Promise.resolve(answer(null, 304)));
    const second = (await settled(read("/tagged"))).value;
    expect(headersOf(1).get("If-None-Match")).toBe('"1"');
    expect(second?.data).toBe(first?.data);
    expect(Number(second?.at) - Number(first?.at)).toBe(60_000);
    expect(remembered("/tagged")).toBe(second);
  });

  test("renews a refused token once", async () => {
    fetched.mockImplementationOnce(() => fails(401)).mockImplementationOnce(() => succeeds({ id: 1 }));
    expect((await settled(read("/me"))).value?.data).toEqual({ id: 1 });
    expect(auth.renew).toHaveBeenCalledTimes(1);
  });

  test("leaves for the sign-in page if the token is not renewed", async () => {
    auth.renew.mockResolvedValueOnce(false);
    fetched.mockImplementation(() => fails(401));
    expect((await settled(read("/me"))).problem).toMatchObject({ status: 401 });
    expect(auth.signIn).toHaveBeenCalledTimes(1);
  });
});

describe("a write", () => {
  test("is repeated with the same key", async () => {
    fetched.mockImplementationOnce(NO_ANSWER).mockImplementationOnce(() => succeeds({ job_id: "1" }));
    expect((await settled(send("POST", "/jobs", { task: "echo" }))).value?.data).toEqual({ job_id: "1" });
    expect(keyOf(0)).toMatch(/^[0-9a-f-]{36}$/);
    expect(keyOf(1)).toBe(keyOf(0));
  });

  test("has another key than the one before", async () => {
    fetched.mockImplementation(() => succeeds());
    await settled(send("POST", "/jobs/1/run"));
    await settled(send("POST", "/jobs/1/run"));
    expect(keyOf(1)).not.toBe(keyOf(0));
  });

  test("keeps its key while its outcome is unknown", async () => {
    fetched.mockImplementation(NO_ANSWER);
    expect((await settled(send("POST", "/jobs/2/run"))).problem).toMatchObject({ status: 0 });
    fetched.mockImplementation(() => succeeds());
    await settled(send("POST", "/jobs/2/run"));
    expect(keyOf(3)).toBe(keyOf(0));
    await settled(send("POST", "/jobs/2/run"));
    expect(keyOf(4)).not.toBe(keyOf(0));
  });

  test("is sent once if it accepts no key", async () => {
    fetched.mockImplementation(() => fails(503));
    for (const [method, path] of [
      ["POST", "/jobs/1/pause"],
      ["PATCH", "/jobs/1"],
      ["PUT", "/executions/1/cancel?grace_seconds=30"],
    ] as const) {
      fetched.mockClear();
      expect((await settled(send(method, path))).problem).toMatchObject({ status: 503 });
      expect(fetched).toHaveBeenCalledTimes(1);
      expect(keyOf(0)).toBeNull();
    }
  });

  test("is repeated without a key if it is a dry run", async () => {
    fetched.mockImplementationOnce(() => fails(500)).mockImplementationOnce(() => succeeds());
    await settled(send("PATCH", "/jobs/1?dry_run=true", { priority: "low" }));
    expect(fetched).toHaveBeenCalledTimes(2);
    expect(keyOf(0)).toBeNull();
  });
});
