/** Fixtures: sign in on the stack's own page, and prepare jobs through the API. */

import { test as base, expect, type Locator, type Page } from "@playwright/test";

const { API_URL, CONSOLE_URL, EMULATOR_URL, PASSWORDS, TOKEN } = process.env as Record<string, string>;
const passwords: Record<string, string> = JSON.parse(PASSWORDS ?? "{}");
const functions: Record<string, string> = JSON.parse(process.env.FUNCTIONS ?? "{}");
const FINAL = ["succeeded", "failed", "timed_out", "cancelled", "skipped", "missed"];

/** Live jobs have different names, also those of an earlier run on the same stack. */
export function unique(name: string): string {
  return `${name}-${Date.now()}`;
}

/** Never due while a test runs. */
export const YEARLY = { cron: "0 0 1 1 *" };

export interface Job {
  job_id: string;
  name: string;
  state: string;
  revision: number;
  parameters: Record<string, unknown>;
  [field: string]: unknown;
}

export interface Execution {
  execution_id: string;
  status: string;
  parameters: Record<string, unknown>;
  result: { value: unknown };
}

interface Fixtures {
  /** Open a view, signing in as a demo user. Tokens are in memory only, so each navigation signs in again. */
  open: (view: string, user?: string) => Promise<void>;
  /** The answer of the API to the operator, which is a success. */
  call: <T>(method: string, path: string, data?: unknown) => Promise<T>;
  submit: (job: Record<string, unknown>) => Promise<Job>;
  /** The last execution of a job that has ended, once there is one. */
  ended: (job: Job) => Promise<Execution>;
  /** Measure the queues now, which happens every minute. */
  measured: () => Promise<void>;
  /** Act while a function reads no message: what waits for it is processed afterwards. */
  without: (name: string, act: () => Promise<void>) => Promise<void>;
  /** Act while the API answers no request. */
  away: (act: () => Promise<void>) => Promise<void>;
}

export const test = base.extend<Fixtures>({
  open: async ({ page }, use) => {
    await use(async (view, user = "operator") => {
      await page.context().clearCookies(); // the sign-in of the user before
      await page.goto(CONSOLE_URL + view);
      await signIn(page, user);
    });
  },
  call: async ({ request }, use) => {
    await use(async (method, path, data) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      const answer = await request.fetch(API_URL + path, { method, data, headers });
      expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true);
      return answer.json();
    });
  },
  submit: async ({ call }, use) => {
    await use((job) => call("POST", "/jobs", { task: "echo", ...job }));
  },
  ended: async ({ call }, use) => {
    await use(async (job) => {
      let last: Execution | undefined;
      const find = async () => {
        const { items } = await call<{ items: Execution[] }>("GET", `/jobs/${job.job_id}/executions`);
        last = items.find((one) => FINAL.includes(one.status));
        return last !== undefined;
      };
      await expect.poll(find, { message: `an execution of ${job.name} ends` }).toBe(true);
      return last as unknown as Execution;
    });
  },
  measured: async ({ request }, use) => {
    const tick = `${EMULATOR_URL}/2015-03-31/functions/${functions.monitor}/invocations`;
    await use(async () => {
      expect((await request.post(tick, { data: { do: "tick" } })).ok()).toBe(true);
    });
  },
  without: async ({ request }, use) => {
    const sources = `${EMULATOR_URL}/2015-03-31/event-source-mappings/`;
    await use(async (name, act) => {
      const found = await (await request.get(`${sources}?FunctionName=${functions[name]}`)).json();
      const uuids = found.EventSourceMappings.map((one: { UUID: string }) => one.UUID);
      expect(uuids).not.toEqual([]);
      const enable = async (isEnabled: boolean) => {
        for (const uuid of uuids) {
          expect((await request.put(sources + uuid, { data: { Enabled: isEnabled } })).ok()).toBe(true);
        }
      };
      await enable(false);
      await act().finally(() => enable(true));
    });
  },
  away: async ({ request }, use) => {
    const limit = `${EMULATOR_URL}/2017-10-31/functions/${functions.api}/concurrency`;
    await use(async (act) => {
      await request.put(limit, { data: { ReservedConcurrentExecutions: 0 } });
      await act().finally(() => request.delete(limit));
    });
  },
});

export { expect };

/** Sign in on the page of the stack, and wait until the view has loaded. */
export async function signIn(page: Page, user = "operator"): Promise<void> {
  await page.locator("input[name=username]").fill(user);
  await page.locator("input[name=password]").fill(passwords[user] ?? "");
  await page.locator("button[type=submit], input[type=submit]").first().click();
  await expect(page.getByRole("main")).toBeVisible();
  await loaded(page);
}

/** Open another view without signing in again, and wait until it has loaded. */
export async function show(page: Page, view: string): Promise<void> {
  const path = new URL(page.url()).pathname.replace(/\/console.*$/, `/console${view}`);
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await loaded(page);
}

async function loaded(page: Page): Promise<void> {
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
}

const MOST_TABS = 150;

/** Move the focus to an element with the Tab key only. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < MOST_TABS; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${target} is not reached by ${MOST_TABS} Tab keys`);
}

/** Confirm the open dialog, whose dry run has been shown. */
export async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox", { name: "Search actions, views, jobs and ids" })).toBeFocused();
}

export async function confirm(page: Page, verb: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("Dry run, just now")).toBeVisible();
  await dialog.getByRole("button", { name: verb }).click();
  await expect(dialog).toHaveCount(0);
}

/** What can be done with the job or execution that the page shows. */
export function actions(page: Page): Locator {
  return page.locator(".head .actions").getByRole("link");
}
