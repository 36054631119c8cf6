/** The menu of the account: theme, time zone, sign-out. */

import { expect, signIn, test, unique } from "./stack";

test("theme and time zone are chosen, and kept", async ({ page, open, submit }) => {
  const job = await submit({ name: unique("zoned"), schedule: { cron: "30 7 1 1 *", timezone: "Asia/Kolkata" } });
  await open(`/jobs/${job.job_id}`);
  const menu = page.getByRole("button", { name: "Preferences and sign-out" });
  const html = page.locator("html");
  const next = page
    .getByRole("main")
    .getByText(/02:00|11:00/)
    .first(); // 07:30 in India
  await menu.click();
  await page.getByText("Dark", { exact: true }).click();
  await expect(html).toHaveAttribute("data-theme", "dark");
  await page.getByLabel("Time zone").selectOption("UTC");
  await expect(next).toContainText("02:00");
  await page.getByLabel("Time zone").selectOption("Asia/Tokyo");
  await expect(page.getByRole("banner").getByText("Tokyo")).toBeVisible();
  await expect(next).toContainText("11:00");

  await page.reload(); // tokens are in memory only
  await signIn(page);
  await expect(page.getByRole("heading", { name: job.name })).toBeVisible();
  await expect(html).toHaveAttribute("data-theme", "dark");
  await expect(next).toContainText("11:00");
  await menu.click();
  await page.getByText("System", { exact: true }).click();
  await page.emulateMedia({ colorScheme: "light" });
  await expect(html).toHaveAttribute("data-theme", "light");
});

test("after sign-out, the console asks for the password again", async ({ page, open }) => {
  await open("/jobs");
  const address = page.url();
  await page.getByRole("button", { name: "Preferences and sign-out" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  const password = page.locator("input[name=password]");
  await expect(password).toBeVisible();
  await page.goto(address);
  await expect(password).toBeVisible();
  await expect(page.getByRole("main")).toHaveCount(0);
});
