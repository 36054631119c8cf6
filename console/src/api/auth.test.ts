import { beforeEach, expect, test, vi } from "vitest";
import { answer, stubPage } from "./page-stub";

const CONFIG = {
  issuer: "https://issuer.test",
  client_id: "console",
  sign_in_url: "https://sign-in.test",
  stage: "dev",
};
const HOUR_MS = 3_600_000;

/** What the sign-in page received, and its next answer. */
let grants: URLSearchParams[] = [];
let grant: () => Promise<Response>;
const granted = (token: string) => async () =>
  answer({ access_token: token, expires_in: 3600, ...(token === "first" ? { refresh_token: "refresh" } : {}) });

beforeEach(() => {
  vi.useFakeTimers();
  grants = [];
  grant = granted("first");
  vi.stubGlobal("fetch", async (url: URL | string, init?: RequestInit) => {
    if (String(url).endsWith("/config")) return answer(CONFIG);
    expect(String(url)).toBe("https://sign-in.test/oauth2/token");
    grants.push(init?.body as URLSearchParams);
    return grant();
  });
});

/** Open a view while signed out. */
async function leave(view: string) {
  vi.resetModules();
  const page = stubPage(view);
  const { start } = await import("./auth");
  expect(await start()).toBe(false);
  return { ...page, asked: (page.left[0] as URL).searchParams };
}

/** Leave a view for the sign-in page, and come back with its answer. */
async function comeBack(view: string, answerTo: (state: string) => string) {
  const { stored, asked } = await leave(view);
  vi.resetModules();
  const page = stubPage(answerTo(asked.get("state") ?? ""));
  for (const [key, value] of stored) page.stored.set(key, value);
  return { ...page, asked, auth: await import("./auth") };
}

async function signedIn(view = "/jobs?state=paused") {
  const back = await comeBack(view, (state) => `?code=the-code&state=${state}`);
  expect(await back.auth.start()).toBe(true);
  return back;
}

/** The SHA-256 digest, in base64url. */
async function digestOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...digest))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

test("the sign-in page gets the digest of a secret, and the exchange of the code the secret", async () => {
  const { left, asked } = await leave("/jobs");
  expect(left[0]?.href).toMatch(/^https:\/\/sign-in\.test\/oauth2\/authorize\?/);
  expect(asked.get("redirect_uri")).toBe("https://punctual.test/v1/console");
  expect(asked.get("code_challenge_method")).toBe("S256");
  const { asked: next } = await signedIn();
  expect(next.get("code_challenge")).not.toBe(asked.get("code_challenge")); // never used twice
  const verifier = grants[0]?.get("code_verifier") ?? "";
  expect(await digestOf(verifier)).toBe(next.get("code_challenge"));
  expect(grants[0]?.get("code")).toBe("the-code");
});

test("a deep link returns to its target, also if its query has a state of its own", async () => {
  await signedIn("/jobs?state=paused&name=a+b");
  expect(location.pathname + location.search).toBe("/v1/console/jobs?state=paused&name=a+b");
});

test("an answer to the sign-in of another page is not accepted", async () => {
  const { auth, left } = await comeBack("/jobs", () => "?code=foreign&state=foreign");
  expect(await auth.start()).toBe(false);
  expect(grants).toEqual([]);
  expect(left[0]?.pathname).toBe("/oauth2/authorize");
});

test("a refused sign-in is shown, and does not start another one", async () => {
  const refusal = "?error=access_denied&error_description=Disabled";
  const { auth, left } = await comeBack("/jobs", (state) => `${refusal}&state=${state}`);
  await expect(auth.start()).rejects.toMatchObject({ status: 403, message: "Sign-in was refused: Disabled" });
  expect(left).toEqual([]);
  expect(location.pathname).toBe("/v1/console/jobs"); // trying again signs in for this view
});

test("tokens are kept in memory only", async () => {
  const { stored } = await signedIn();
  expect([...stored]).toEqual([]);
});

test("a token is renewed before it expires, once for all that ask", async () => {
  const { auth, left } = await signedIn();
  expect(await auth.accessToken()).toBe("first");
  expect(grants).toHaveLength(1);
  vi.setSystemTime(Date.now() + HOUR_MS - 30_000);
  grant = granted("second");
  expect(await Promise.all([auth.accessToken(), auth.accessToken()])).toEqual(["second", "second"]);
  expect(grants).toHaveLength(2);
  expect(grants[1]?.get("refresh_token")).toBe("refresh");
  vi.setSystemTime(Date.now() + HOUR_MS);
  grant = granted("third");
  expect(await auth.accessToken()).toBe("third"); // the refresh token was kept
  expect(left).toEqual([]);
});

test("the user stays signed in while the sign-in page is away", async () => {
  const { auth, left } = await signedIn();
  vi.setSystemTime(Date.now() + HOUR_MS);
  for (const failure of [async () => answer({}, 503), () => Promise.reject(new TypeError())]) {
    grant = failure;
    await expect(auth.accessToken()).rejects.toMatchObject({ isAway: true });
  }
  expect(left).toEqual([]);
  grant = granted("second");
  expect(await auth.accessToken()).toBe("second");
});

test("a user whose session has ended signs in again", async () => {
  const { auth, left } = await signedIn();
  vi.setSystemTime(Date.now() + HOUR_MS);
  grant = async () => answer({ error: "invalid_grant" }, 400);
  await expect(auth.accessToken()).rejects.toMatchObject({ status: 401 });
  expect(left.map((one) => one.pathname)).toEqual(["/oauth2/authorize"]);
});

test("sign-out leaves for its page, and a read in between does not sign in again", async () => {
  const { auth, left } = await signedIn();
  auth.signOut();
  await expect(auth.accessToken()).rejects.toMatchObject({ status: 401 });
  expect(left.map((one) => one.pathname)).toEqual(["/logout"]);
  expect(left[0]?.searchParams.get("logout_uri")).toBe("https://punctual.test/v1/console");
});
