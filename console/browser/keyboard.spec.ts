/** Everything can be done without a mouse. */

import { expect, test } from "./stack";

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
