/** Everything can be done without a mouse. */

import { expect, test, unique } from "./stack";

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
  await page
    .getByRole("spinbutton", { name: /seconds/ })
    .first()
    .focus();
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
  await page.keyboard.press("Control+k");
  await page.keyboard.type(name);
  await expect(palette.getByRole("option", { name: `${name} Job` })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name })).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" }).getByText("search or jump to")).toBeVisible();
});
