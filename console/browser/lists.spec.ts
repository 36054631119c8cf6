/** Lists: links, saved views, and bulk operations on a selection or a filter. */

import type { Page } from "@playwright/test";
import { expect, show, test, unique, YEARLY } from "./stack";

const rowsOf = (page: Page, table: string) =>
  page.getByRole("table", { name: table }).locator("tbody").getByRole("row");

test("a deep link opened while signed out returns to its target", async ({ page, open }) => {
  await open("/jobs?state=paused");
  await expect(page).toHaveURL(/\/console\/jobs\?state=paused$/);
  await expect(page.getByText("State Paused")).toBeVisible();
});

test("all jobs that match a filter are paused, and the pause is undone", async ({ page, open, submit }) => {
  const prefix = unique("bulk");
  for (const one of ["a", "b", "c"]) await submit({ name: `${prefix}-${one}`, schedule: YEARLY });
  await open(`/jobs?name=${prefix}&state=active,paused`);
  const rows = rowsOf(page, "Jobs");
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

test("selected executions are retried, and the selection survives a filter by text", async ({
  page,
  open,
  submit,
  ended,
}) => {
  const prefix = unique("selected");
  for (const one of ["a", "b", "c"]) await ended(await submit({ name: `${prefix}-${one}` }));
  await open(`/executions?job_name=${prefix}`);
  const rows = rowsOf(page, "Executions");
  await expect(rows).toHaveCount(3);
  for (const one of ["a", "b"])
    await rows
      .filter({ hasText: `${prefix}-${one}` })
      .getByRole("checkbox")
      .check();
  await page.getByRole("button", { name: "Retry…" }).click();
  await expect(page.getByRole("dialog").getByText("Dry run, just now: 2 match")).toBeVisible();
  await page.getByRole("button", { name: "Retry 2 executions" }).click();
  await expect(page.getByText("2 executions retried")).toBeVisible();
  await expect(rows).toHaveCount(5);
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

test("an item that needs attention is snoozed, if there is one", async ({ page, open }) => {
  await open("");
  const items = page.getByRole("list", { name: "What needs you" }).getByRole("listitem");
  test.skip((await items.count()) === 0, "nothing needs attention");
  const name = await items.first().getByRole("heading").innerText();
  await items.first().getByRole("button", { name: "Snooze for 8 h" }).click();
  await expect(page.getByText("Snoozed for 8 hours")).toBeVisible();
  await expect(items.filter({ hasText: name })).toHaveCount(0);
});

test("the tasks are listed, and open the form", async ({ page, open }) => {
  await open("/tasks");
  await page.getByRole("main").getByRole("link", { name: "echo", exact: true }).click();
  await page.getByRole("link", { name: "New job with this task" }).click();
  await expect(page.getByRole("heading", { name: "New job" })).toBeVisible();
  await expect(page.getByLabel("Task", { exact: true })).toHaveValue("echo");
  await show(page, "/deadlines");
  await expect(page.getByRole("main")).not.toBeEmpty();
});
