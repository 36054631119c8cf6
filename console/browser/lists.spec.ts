/** Lists: links, saved views, and bulk operations on a selection or a filter. */

import type { Page } from "@playwright/test";
import { expect, type Job, show, test, unique, YEARLY } from "./stack";

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

test("the priority of jobs is changed, and a bulk operation is aborted", async ({
  page,
  open,
  submit,
  call,
  without,
}) => {
  const prefix = unique("aborted");
  const jobs: Job[] = [];
  for (const one of ["a", "b"]) jobs.push(await submit({ name: `${prefix}-${one}`, schedule: YEARLY }));
  const stored = () => Promise.all(jobs.map((one) => call<Job>("GET", `/jobs/${one.job_id}`)));
  await open(`/jobs?name=${prefix}`);
  const all = page.getByRole("checkbox", { name: "Select all rows that are loaded" });
  await all.check();
  await page.getByRole("button", { name: "Change priority…" }).click();
  await page.getByRole("dialog").getByText("high", { exact: true }).click();
  await expect(page.getByRole("dialog").getByText("Dry run, just now: 2 match")).toBeVisible();
  await page.getByRole("button", { name: "Change priority of 2 jobs" }).click();
  await expect(page.getByText("2 jobs changed")).toBeVisible();
  expect((await stored()).map((one) => one.priority)).toEqual(["high", "high"]);

  await without("bulk", async () => {
    await all.check();
    await page.getByRole("button", { name: "Cancel…" }).click();
    await page.getByRole("button", { name: "Cancel 2 jobs" }).click();
    await expect(page.getByText("Cancelling: 0 of 2")).toBeVisible();
    await page.getByRole("button", { name: "Abort" }).click();
    await expect(page.getByRole("button", { name: "Aborting…" })).toBeDisabled();
  });
  await expect(page.getByText("Aborted after 0 of 2: 0 jobs cancelled")).toBeVisible();
  expect((await stored()).map((one) => one.state)).toEqual(["active", "active"]);
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

test("an item that needs attention is snoozed", async ({ page, open, submit, call }) => {
  const name = unique("cannot-be-on-time");
  const late = { parameters: { seconds: 600 }, expected_seconds: 600, deadline: { within_seconds: 2 } };
  const job = await submit({ name, task: "sleep", ...late });
  const attention = async () => {
    const { attention: items } = await call<{ attention: { subject: { id: string; job_name: string } }[] }>(
      "GET",
      "/overview",
    );
    return items.find((one) => one.subject.job_name === job.name)?.subject.id;
  };
  await expect.poll(attention).toBeDefined();
  await open("");
  const item = page.getByRole("list", { name: "What needs you" }).getByRole("listitem").filter({ hasText: name });
  await item.getByRole("button", { name: "Snooze for 8 h" }).click();
  await expect(page.getByText("Snoozed for 8 hours")).toBeVisible();
  await expect(item).toHaveCount(0);
  await call("PUT", `/executions/${await attention()}/cancel`);
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
