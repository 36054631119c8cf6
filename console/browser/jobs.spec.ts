/** Create and change a job: each action with its dry run, and what the API stored. */

import { actions, confirm, expect, type Job, show, test, unique, YEARLY } from "./stack";

test("a job is created by the form, cloned, and edited", async ({ page, open, call }) => {
  const name = unique("created");
  await open("/jobs/new?task=sleep");
  await page.getByLabel("Name").fill(name);
  await page
    .getByRole("spinbutton", { name: /seconds/ })
    .first()
    .fill("1");
  await page.getByText("Cron", { exact: true }).click();
  await page.getByRole("combobox", { name: "Cron" }).fill("0 0 1 1 *");
  await expect(page.getByRole("heading", { name: "Next ten" })).toBeVisible();
  await expect(page.getByText("No problems")).toBeVisible();
  await expect(page.getByText(/yearly on 1 January at 00:00/i).first()).toBeVisible();
  const preview = page.getByRole("main");
  await expect(preview.getByText(`"name": "${name}"`).first()).toBeVisible();
  await expect(preview.getByText(/^curl -X POST '.*\/jobs'/)).toContainText(`"name": "${name}"`);
  await page.getByRole("button", { name: "Create job" }).click();
  await expect(page.getByRole("heading", { name })).toBeVisible();
  const created = await jobAt(page.url(), call);
  expect(created).toMatchObject({ name, task: "sleep", parameters: { seconds: 1 }, revision: 1 });

  await page.getByRole("link", { name: "Clone" }).click();
  await page.getByLabel("Name").fill(`${name}-clone`);
  await expect(page.getByText("No problems")).toBeVisible();
  await page.getByRole("button", { name: "Create job" }).click();
  await expect(page.getByRole("heading", { name: `${name}-clone` })).toBeVisible();
  const clone = await jobAt(page.url(), call);
  expect(clone.job_id).not.toBe(created.job_id);
  expect(clone).toMatchObject({ task: "sleep", parameters: { seconds: 1 }, schedule: created.schedule });

  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByText("High", { exact: true }).click();
  await expect(page.getByText("No problems")).toBeVisible();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("main").getByText("revision 2")).toBeVisible();
  expect(await jobAt(page.url(), call)).toMatchObject({ priority: "high", revision: 2 });
});

test("a job is run, paused, resumed and cancelled", async ({ page, open, submit, ended, call }) => {
  const job = await submit({ name: unique("acted-upon"), schedule: YEARLY });
  await open(`/jobs/${job.job_id}`);
  await page.getByRole("link", { name: "Run now…" }).click();
  await confirm(page, "Run now");
  await expect(page.getByRole("status").getByRole("link", { name: "Open" })).toBeVisible();
  expect((await ended(job)).status).toBe("succeeded");
  await expect(page.getByRole("table", { name: "Executions of this job" }).getByText("Succeeded")).toBeVisible();
  await page.getByRole("link", { name: "Pause…" }).click();
  await confirm(page, "Pause the job");
  await page.getByRole("link", { name: "Resume…" }).click();
  await confirm(page, "Resume the job");
  await expect(page.getByRole("link", { name: "Pause…" })).toBeVisible();
  await page.getByRole("link", { name: "Cancel…" }).click();
  await confirm(page, "Cancel the job");
  await expect(actions(page)).toHaveText(["Clone"]);
  expect((await call<Job>("GET", `/jobs/${job.job_id}`)).state).toBe("cancelled");
});

test("an edit that another user has overtaken is applied on top of theirs", async ({ page, open, submit, call }) => {
  const job = await submit({ name: unique("overtaken"), schedule: YEARLY });
  await open(`/jobs/${job.job_id}/edit`);
  await page.getByText("High", { exact: true }).click();
  await expect(page.getByText("No problems")).toBeVisible();
  await call("PATCH", `/jobs/${job.job_id}`, { timeout_seconds: 77 });
  await page.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("alert").filter({ hasText: "Another user saved revision 2" });
  await expect(conflict.getByRole("row", { name: "timeout_seconds" })).toContainText("77");
  expect(await call<Job>("GET", `/jobs/${job.job_id}`)).toMatchObject({ priority: "normal", revision: 2 });
  await conflict.getByRole("button", { name: "Apply mine on top" }).click();
  await expect(page.getByRole("main").getByText("revision 3")).toBeVisible();
  const both = { priority: "high", timeout_seconds: 77, revision: 3 };
  expect(await call<Job>("GET", `/jobs/${job.job_id}`)).toMatchObject(both);
});

test("a former revision is restored", async ({ page, open, submit, call }) => {
  const job = await submit({ name: unique("restored"), schedule: YEARLY, parameters: { step: 1 } });
  await call("PATCH", `/jobs/${job.job_id}`, { parameters: { step: 2 } });
  await open(`/jobs/${job.job_id}?tab=revisions`);
  const main = page.getByRole("main");
  await expect(main.getByText("Revision 2", { exact: true })).toBeVisible();
  await main.getByRole("link", { name: "Restore revision 1…" }).click();
  await confirm(page, "Restore revision 1");
  await expect(main.getByText("Revision 3", { exact: true })).toBeVisible();
  expect(await call<Job>("GET", `/jobs/${job.job_id}`)).toMatchObject({ parameters: { step: 1 }, revision: 3 });
});

test("a day is backfilled from the heat map", async ({ page, open, submit, call }) => {
  const job = await submit({ name: unique("backfilled"), schedule: { cron: "0 0 * * *" } });
  await open(`/jobs/${job.job_id}`);
  await page.getByRole("slider", { name: "Day" }).press("ArrowUp");
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const chosen = page.getByRole("status").filter({ hasText: new RegExp(day) });
  await chosen.getByRole("link", { name: "Backfill…" }).click();
  await confirm(page, "Backfill the day");
  const dueOf = async () => {
    const { items } = await call<{ items: { scheduled_at: string; origin: string }[] }>(
      "GET",
      `/jobs/${job.job_id}/executions`,
    );
    return items.filter((one) => one.origin === "backfill").map((one) => one.scheduled_at.slice(0, 10));
  };
  await expect.poll(dueOf).toContain(day);
});

test("a refusal appears at its field, and nothing is stored", async ({ page, open }) => {
  await open("/jobs/new?task=echo");
  await page.getByText("Cron", { exact: true }).click();
  await page.getByRole("combobox", { name: "Cron" }).fill("99 * * * *");
  await expect(page.locator("#schedule\\.cron-note")).toHaveClass(/error/);
  await expect(page.getByRole("alert").getByText("1 problem")).toBeVisible();
});

test("tasks and next instants that are not loaded are errors, not empty lists", async ({ page, open }) => {
  let isBroken = true;
  await page.route(/\/tasks$/, (route) =>
    isBroken ? route.fulfill({ status: 400, json: { detail: "the tasks are away" } }) : route.continue(),
  );
  await page.route(/\/schedules\/preview$/, (route) =>
    route.fulfill({ status: 400, json: { detail: "the preview is away" } }),
  );
  await open("/jobs/new?task=echo");
  await expect(page.getByText("the tasks are away")).toBeVisible();
  await page.getByText("Cron", { exact: true }).click();
  await expect(page.getByText("Unknown: the preview is away")).toBeVisible();
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("the tasks are away")).toHaveCount(0);
  await expect(page.getByLabel("Task").getByRole("option", { name: "sleep" })).toHaveCount(1);
});

test("parts of parameters and rules have fields, and a text that is no JSON is not saved", async ({
  page,
  open,
  call,
}) => {
  const name = unique("fields");
  await open("/jobs/new?task=queue.process");
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Leave empty" }).click();
  await page.getByRole("button", { name: "Add to required_fields" }).click();
  await page.getByLabel("required_fields 1", { exact: true }).fill("id");
  await page.getByText("Retries and missed instants").click();
  await page.getByLabel("Attempts").fill("99");
  await expect(page.locator("#retry\\.max_attempts-note")).toHaveClass(/error/);
  await page.getByLabel("Attempts").fill("5");
  await page.getByText("Notifications").click();
  await page.getByRole("button", { name: "Add to To" }).click();
  await page.getByLabel("To 1", { exact: true }).selectOption("E-mail");
  await page.getByLabel("Address").fill("nobody");
  await page.getByRole("button", { name: "notify.to.0.email" }).click();
  await expect(page.getByLabel("Address")).toBeFocused();
  await page.getByLabel("To 1", { exact: true }).selectOption("Page");
  await page.getByRole("button", { name: "Add to records" }).click();
  await page.getByLabel("records 1", { exact: true }).fill("{oops");
  await expect(page.getByRole("button", { name: "Create job" })).toBeDisabled();
  await page.getByLabel("records 1", { exact: true }).fill('{"id": 1}');
  await expect(page.getByText("No problems")).toBeVisible();
  await page.getByRole("button", { name: "Create job" }).click();
  await expect(page.getByRole("heading", { name })).toBeVisible();
  expect(await jobAt(page.url(), call)).toMatchObject({
    parameters: { records: [{ id: 1 }], required_fields: ["id"] },
    retry: { max_attempts: 5 },
    notify: { to: "page" },
  });
});

test("the graph of a job shows what it waits for, and its definition is shown", async ({ page, open, submit }) => {
  const upstream = await submit({ name: unique("graph-upstream"), schedule: YEARLY });
  const job = await submit({
    name: unique("graph-downstream"),
    schedule: YEARLY,
    depends_on: [{ job: upstream.job_id }],
  });
  await open(`/jobs/${job.job_id}?tab=graph`);
  await expect(
    page
      .getByRole("main")
      .getByRole("link", { name: /graph-upstream/ })
      .first(),
  ).toBeVisible();
  await show(page, `/jobs/${job.job_id}?tab=definition`);
  await expect(page.getByRole("main").getByText(`"job_id": "${job.job_id}"`)).toBeVisible();
});

/** The job whose page is open. */
async function jobAt(url: string, call: (method: string, path: string) => Promise<unknown>): Promise<Job> {
  return (await call("GET", `/jobs/${new URL(url).pathname.split("/").at(-1)}`)) as Job;
}
