/** The API stops while a page is open, and comes back. */

import { expect, show, test, unique, YEARLY } from "./stack";

const { EMULATOR_URL, API_FUNCTION } = process.env;
const CONCURRENCY = `${EMULATOR_URL}/2017-10-31/functions/${API_FUNCTION}/concurrency`;

test("the console outlives an API that is away", async ({ page, request, open, submit }) => {
  const name = unique("outlives");
  await submit({ name, schedule: YEARLY });
  await open(`/jobs?name=${name}`);
  const rows = page.getByRole("table", { name: "Jobs" }).locator("tbody").getByRole("row");
  await expect(rows).toHaveCount(1);
  const away = page.getByRole("button", { name: /^API away since/ });
  try {
    await request.put(CONCURRENCY, { data: { ReservedConcurrentExecutions: 0 } });
    await expect(away).toBeVisible();
    await expect(page.getByText(/^Jobs: the last read failed at/)).toBeVisible();
    await expect(rows).toHaveCount(1); // the last data stay

    await show(page, "/executions?status=missed"); // never read before
    await expect(page.getByRole("alert").getByText("Executions: not loaded")).toBeVisible();
    await expect(page.getByText(/No execution/)).toHaveCount(0);
  } finally {
    await request.delete(CONCURRENCY);
  }
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(away).toHaveCount(0);
  await show(page, `/jobs?name=${name}`);
  await expect(rows).toHaveCount(1);
  await expect(page.getByText(/the last read failed/)).toHaveCount(0);
});
