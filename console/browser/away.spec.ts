/** The API stops while pages are open, and comes back. */

import { expect, show, signIn, test, unique, YEARLY } from "./stack";

test("the console outlives an API that is away", async ({ page, context, open, submit, away }) => {
  const name = unique("outlives");
  await submit({ name, schedule: YEARLY });
  await open(`/jobs?name=${name}`);
  const address = page.url();
  const rows = page.getByRole("table", { name: "Jobs" }).locator("tbody").getByRole("row");
  await expect(rows).toHaveCount(1);
  const age = page.getByRole("button", { name: /^API away since/ });
  const started = await context.newPage();
  const form = await context.newPage();
  await form.goto(address.replace(/\/jobs.*/, "/jobs/new?task=echo"));
  await signIn(form);
  await expect(form.getByText("No problems")).toBeVisible();
  await away(async () => {
    await expect(age).toBeVisible();
    await expect(page.getByText(/^Jobs: the last read failed at/)).toBeVisible();
    await expect(rows).toHaveCount(1); // the last data stay

    await show(page, "/executions?status=missed"); // never read before
    await expect(page.getByRole("alert").getByText("Executions: not loaded")).toBeVisible();
    await expect(page.getByText(/No execution/)).toHaveCount(0);

    await form.getByLabel("Name").fill("typed meanwhile");
    await expect(form.getByText(/^Dry run….*Trying again in 5\ss\.$/)).toBeVisible();

    await started.goto(address);
    await expect(started.getByRole("alert").getByText("The console: not loaded")).toBeVisible();
    await expect(started.getByText(/^Trying again in 5\ss\.$/)).toBeVisible();
  });
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(age).toHaveCount(0);
  await show(page, `/jobs?name=${name}`);
  await expect(rows).toHaveCount(1);
  await expect(page.getByText(/the last read failed/)).toHaveCount(0);
  await expect(form.getByText("No problems")).toBeVisible();
  await signIn(started); // it has left for the sign-in page by itself
  await expect(started.getByRole("link", { name })).toBeVisible();
});
