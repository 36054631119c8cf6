/** Everything can be done without a mouse: only keys are pressed here. */

import { expect, openPalette, tabTo, test, unique } from "./stack";

test("a job is submitted, watched and cancelled with the keyboard only", async ({ page, open }) => {
  const name = unique("by-keyboard");
  await open("");
  await page.keyboard.press("c");
  await expect(page.getByRole("heading", { name: "New job" })).toBeVisible();
  const task = page.getByLabel("Task", { exact: true });
  await tabTo(page, task);
  await expect(page.getByRole("option", { name: "sleep" })).toBeAttached();
  await page.keyboard.type("sl");
  await expect(task).toHaveValue("sleep");
  await tabTo(page, page.getByLabel("Name"));
  await page.keyboard.type(name);
  await tabTo(page, page.getByRole("spinbutton", { name: /seconds/ }).first());
  await page.keyboard.type("600");
  await expect(page.getByText("No problems")).toBeVisible();
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("heading", { name })).toBeVisible();

  const rows = page.getByRole("table", { name: "Executions of this job" }).getByRole("row");
  await expect(rows).toHaveCount(2);
  await tabTo(page, rows.nth(1));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main").getByText("Running")).not.toHaveCount(0);
  await tabTo(page, page.getByRole("link", { name: "Cancel…" }));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("Dry run, just now")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await tabTo(page, page.getByRole("link", { name: "Cancel…" }));
  await page.keyboard.press("Enter");
  await tabTo(page, dialog.getByRole("button", { name: "Cancel the execution" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main").getByText("Cancelled")).not.toHaveCount(0);
});

test("the palette offers the actions of the row, of the selection and of the page, and a job by its name", async ({
  page,
  open,
  submit,
  ended,
}) => {
  const name = unique("in-the-palette");
  const job = await submit({ name });
  await ended(job);
  await open(`/executions?job_id=${job.job_id}`);
  await expect(page.getByRole("row").nth(1)).toContainText(name);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press(".");
  const palette = page.getByRole("dialog", { name: "Search or jump to" });
  await expect(palette.getByRole("option", { name: "Retry… 1 selected" })).toBeVisible();
  await expect(palette.getByRole("option", { name: `Open ${name}` })).toBeVisible();
  await page.keyboard.press("Escape");
  await openPalette(page);
  await page.keyboard.type(name);
  await expect(palette.getByRole("option", { name: `${name} Job` })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name })).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" }).getByText("search or jump to")).toBeVisible();
});

test("lists, the palette and the list of keys are used with the keyboard only", async ({ page, open, submit }) => {
  const prefix = unique("keys");
  for (const one of ["a", "b"]) await submit({ name: `${prefix}-${one}`, schedule: { cron: "0 0 1 1 *" } });
  await open("/jobs");
  await page.keyboard.press("/");
  await page.keyboard.type(prefix);
  const rows = page.getByRole("table", { name: "Jobs" }).locator("tbody").getByRole("row");
  await expect(rows).toHaveCount(2);
  await tabTo(page, rows.first());
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(page.getByText("2 selected")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("2 selected")).toHaveCount(0);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await page.keyboard.press("Escape");

  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await expect(page).toHaveURL(/\/tasks$/);
  const palette = page.getByRole("dialog", { name: "Search or jump to" });
  await expect(page.getByRole("heading", { name: "Tasks", level: 1 })).toBeAttached();
  await openPalette(page);
  await page.keyboard.type(`${prefix}-b`);
  await expect(palette.getByRole("option")).toHaveText([new RegExp(`^${prefix}-b`)]);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: `${prefix}-b` })).toBeVisible();
  await openPalette(page);
  await page.keyboard.type("pause");
  await expect(palette.getByRole("option", { name: /Pause….*On this page/ })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: `Pause ${prefix}-b?` })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("q");
  await expect(page).toHaveURL(/\/queues$/);
});
