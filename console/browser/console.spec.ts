/** The console in a browser, on a deployed stack whose address and demo users the environment names. */

import type { Page } from "@playwright/test";
import violationsOf from "./axe";
import { expect, test } from "./stack";

const VIEWS = ["", "/jobs", "/executions", "/calendar", "/deadlines", "/queues", "/lane", "/tasks", "/jobs/new"];

test("a job is submitted, watched and cancelled with the keyboard only", async ({ page, open, submit }) => {
  await submit({ name: "keyboard-warm-up" });
  await open("");
  await page.keyboard.press("c");
  await expect(page.getByRole("heading", { name: "New job" })).toBeVisible();
  await page.getByLabel("Task", { exact: true }).focus();
  await expect(page.getByRole("option", { name: "sleep" })).toBeAttached();
  await page.keyboard.type("sl");
  await expect(page.getByLabel("Task", { exact: true })).toHaveValue("sleep");
  await page.getByLabel("Name").focus();
  await page.keyboard.type("by-keyboard");
  await page.getByRole("spinbutton", { name: /seconds/ }).first().focus();
  await page.keyboard.type("600");
  await expect(page.getByText("No problems")).toBeVisible();
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("heading", { name: "by-keyboard" })).toBeVisible();
  await page.getByRole("table", { name: "Executions of this job" }).getByRole("row").nth(1).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main").getByText("Running")).not.toHaveCount(0);
  await page.getByRole("link", { name: "Cancel…" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByText("Dry run, just now")).toBeVisible();
  await page.getByRole("button", { name: "Cancel the execution" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main").getByText("Cancelled")).not.toHaveCount(0);
});

test("a deep link opened while signed out returns to its target", async ({ page, open }) => {
  await open("/jobs?state=paused");
  await expect(page).toHaveURL(/\/console\/jobs\?state=paused$/);
  await expect(page.getByText("State Paused")).toBeVisible();
});

test("all jobs that match a filter are paused, and the pause is undone", async ({ page, open, submit }) => {
  const prefix = `bulk-${Date.now()}`;
  for (const one of ["a", "b", "c"]) await submit({ name: `${prefix}-${one}`, schedule: { cron: "0 0 1 1 *" } });
  await open(`/jobs?name=${prefix}&state=active,paused`);
  const rows = page.getByRole("table", { name: "Jobs" }).locator("tbody").getByRole("row");
  await expect(rows).toHaveCount(3);
  await rows.first().getByRole("checkbox").check();
  await expect(page.getByText("1 selected")).toBeVisible();
  await page.getByRole("button", { name: /^Select all .*that match$/ }).click();
  await page.getByRole("button", { name: "Pause…" }).click();
  await expect(page.getByRole("dialog").getByText("Dry run, just now: 3 match")).toBeVisible();
  await page.getByRole("button", { name: "Pause 3 jobs" }).click();
  await expect(page.getByText("3 jobs paused")).toBeVisible();
  await expect(rows.getByText("Paused")).toHaveCount(3);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("3 jobs resumed")).toBeVisible();
  await expect(rows.getByText("Paused")).toHaveCount(0);
});

test("a view is saved under a name, and is opened again", async ({ page, open }) => {
  await open("/jobs?priority=low");
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabel("Name of the view").fill("Low ones");
  await page.keyboard.press("Enter");
  const views = page.getByRole("navigation", { name: "Saved views" });
  await views.getByRole("link", { name: "All jobs" }).click();
  await views.getByRole("link", { name: "Low ones" }).click();
  await expect(page).toHaveURL(/priority=low$/);
  await page.getByRole("button", { name: "Forget view" }).click();
  await expect(views.getByRole("link", { name: "Low ones" })).toHaveCount(0);
});

test("a viewer is offered no action, and the API refuses a forced one", async ({ page, open, submit }) => {
  const job = await submit({ name: "read-only", schedule: { cron: "0 0 1 1 *" } });
  await open(`/jobs/${job.job_id}`, "viewer");
  await expect(page.getByRole("heading", { name: "read-only" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Pause…" })).toHaveCount(0);
  await expect(page.getByRole("link", { name: "New job" })).toHaveCount(0);
  await open(`/jobs/${job.job_id}?do=pause`, "viewer");
  await page.getByRole("button", { name: "Pause the job" }).click();
  await expect(page.getByRole("dialog").getByText(/requires the role operator/).first()).toBeVisible();
});

test("hostile names and messages are shown as text", async ({ page, open, submit }) => {
  const name = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
  const job = await submit({ name, parameters: { text: name } });
  await open(`/jobs/${job.job_id}`);
  await expect(page.getByRole("heading", { name })).toBeVisible();
  await page.getByRole("table", { name: "Executions of this job" }).getByRole("link").first().click();
  await page.getByRole("tab", { name: "Parameters" }).click();
  await expect(page.getByRole("main").getByText(name).first()).toBeVisible();
  expect(await page.locator("main img").count()).toBe(0);
  expect(await page.title()).toContain("Punctual");
});

test("the calendar opens a failed run by keyboard, and shows the dry run of its backfill", async ({ page, open, submit }) => {
  const name = "failing-in-the-calendar";
  await submit({ name, task: "fail", parameters: { times: 9, fatal: true }, schedule: { every_seconds: 60 } });
  await open("", "admin");
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await expect(page.getByText("Six weeks")).toBeVisible();
  await page.keyboard.press("d");
  await expect(page).toHaveURL(/calendar\?span=day$/);
  await page.getByRole("searchbox", { name: "Search jobs" }).fill(name);
  await page.getByRole("gridcell", { name: new RegExp(`^${name}: .*ailed`) }).first().focus();
  await page.keyboard.press("Enter");
  const popover = page.getByRole("dialog", { name });
  await expect(popover.getByText(/^Dry run: .* would run again/)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(popover).toHaveCount(0);
});

test("a refusal appears at its field, and nothing is stored", async ({ page, open }) => {
  await open("/jobs/new");
  await page.getByLabel("Task", { exact: true }).selectOption("echo");
  await page.getByText("Cron", { exact: true }).click();
  await page.getByRole("combobox", { name: "Cron" }).fill("99 * * * *");
  await expect(page.locator("#schedule\\.cron-note")).toHaveClass(/error/);
  await expect(page.getByRole("alert").getByText("1 problem")).toBeVisible();
});

for (const theme of ["light", "dark"] as const) {
  test(`no view has an accessibility violation in the ${theme} theme`, async ({ page, open, submit }) => {
    await page.emulateMedia({ colorScheme: theme });
    await submit({ name: `accessible-${theme}`, schedule: { cron: "0 0 1 1 *" } });
    await open("");
    const found: Record<string, string[]> = {};
    for (const view of VIEWS) {
      await show(page, view);
      const violations = await violationsOf(page);
      if (violations.length) found[view] = violations;
    }
    expect(found).toEqual({});
  });
}

for (const width of [360, 1440]) {
  test(`no view scrolls sideways at ${width} pixels`, async ({ page, open, submit, picture }) => {
    await page.setViewportSize({ width, height: 900 });
    await submit({ name: `a-job-with-a-rather-long-name-that-must-not-widen-the-page-${width}`, schedule: { cron: "0 2 * * SUN" } });
    await open("");
    for (const view of VIEWS) {
      await show(page, view);
      const excess = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(excess, view).toBeLessThanOrEqual(0);
      await picture(`${view.replaceAll("/", "-").slice(1) || "overview"}-${width}`);
    }
  });
}

test("the first load stays within its budget", async ({ page, open }) => {
  const sizes: number[] = [];
  const requests: string[] = [];
  page.on("response", async (response) => {
    if (response.url().includes("/console/assets/")) sizes.push(Number(response.headers()["content-length"] ?? 0));
  });
  page.on("request", (request) => {
    if (request.method() === "GET" && !/console|oauth2|config|\/me$/.test(request.url())) requests.push(request.url());
  });
  await open("/jobs");
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThan(120_000);
  expect(new Set(requests).size).toBeLessThanOrEqual(2);
});

/** Open another view without signing in again, and wait until it has loaded. */
async function show(page: Page, view: string): Promise<void> {
  const path = new URL(page.url()).pathname.replace(/\/console.*$/, `/console${view}`);
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
}
