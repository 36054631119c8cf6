/** Fixtures: sign in on the stack's own page, and submit jobs through the API. */

import { test as base, expect } from "@playwright/test";

const { API_URL, CONSOLE_URL, PASSWORDS, TOKEN, PICTURES } = process.env as Record<string, string>;
const passwords: Record<string, string> = JSON.parse(PASSWORDS ?? "{}");

interface Fixtures {
  /** Open a view, signing in as a demo user. Tokens are in memory only, so each navigation signs in again. */
  open: (view: string, user?: string) => Promise<void>;
  submit: (job: Record<string, unknown>) => Promise<{ job_id: string }>;
  /** Store a picture of the whole page. */
  picture: (name: string) => Promise<void>;
}

export const test = base.extend<Fixtures>({
  open: async ({ page }, use) => {
    await use(async (view, user = "operator") => {
      await page.goto(CONSOLE_URL + view);
      await page.locator("input[name=username]").fill(user);
      await page.locator("input[name=password]").fill(passwords[user] ?? "");
      await page.locator("button[type=submit], input[type=submit]").first().click();
      await expect(page.getByRole("main")).toBeVisible();
    });
  },
  submit: async ({ request }, use) => {
    await use(async (job) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      const answer = await request.post(`${API_URL}/jobs`, { data: { task: "echo", ...job }, headers });
      expect(answer.status(), await answer.text()).toBe(201);
      return answer.json();
    });
  },
  picture: async ({ page }, use) => {
    await use(async (name) => {
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
    });
  },
});

export { expect };
