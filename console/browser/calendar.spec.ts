/** The calendar: what failed, and the way to run it again. */

import { expect, test, unique } from "./stack";

const HOUR_MS = 3_600_000;

test("the calendar opens a failed run by keyboard, and backfills it", async ({ page, open, submit, call, ended }) => {
  const name = unique("failing-in-the-calendar");
  const job = await submit({
    name,
    task: "fail",
    parameters: { times: 9, fatal: true },
    schedule: { cron: "0 * * * *" },
  });
  const now = new Date();
  const hour = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
  await call("POST", `/jobs/${job.job_id}/backfill`, { from: hour.toISOString(), to: now.toISOString() });
  expect((await ended(job)).status).toBe("failed");
  await open("", "admin");
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await expect(page.getByText("Six weeks")).toBeVisible();
  await page.keyboard.press("d");
  await expect(page).toHaveURL(/calendar\?span=day$/);
  await page.getByRole("searchbox", { name: "Search jobs" }).fill(name);
  await page
    .getByRole("gridcell", { name: new RegExp(`^${name}: .*ailed`) })
    .first()
    .focus();
  await page.keyboard.press("Enter");
  const popover = page.getByRole("dialog", { name });
  await expect(popover.getByText(/^Dry run: .* would run again/)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(popover).toHaveCount(0);
  await page.getByRole("link", { name: "Backfill day…" }).click();
  const question = page.getByRole("dialog", { name: /^Backfill / });
  await expect(question.getByText("Dry run, just now")).toBeVisible();
  await expect(question.getByText("1 again")).toBeVisible();
  await question.getByRole("button", { name: "Backfill 1 run" }).click();
  await expect(page.getByText(/^1.job backfilled/)).toBeVisible();
  const runs = () => call<{ items: unknown[] }>("GET", `/jobs/${job.job_id}/executions`);
  await expect.poll(async () => (await runs()).items.length).toBeGreaterThan(1);

  await page.keyboard.press("m");
  await expect(page).toHaveURL(/span=month/);
  const today = page.getByRole("main").locator("[aria-current=date]");
  await expect(today.getByText(/failed/).first()).toBeAttached();
  await today.click();
  await expect(page).toHaveURL(/span=day/);
  await expect(page.getByRole("gridcell", { name: new RegExp(`^${name}: .*ailed`) }).first()).toBeVisible();
});
