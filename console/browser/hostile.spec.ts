/** Names, parameters, logs, results and errors that are markup are shown as text. */

import { expect, show, test } from "./stack";

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=1</script>';

test("hostile names, parameters, results and logs are shown as text", async ({ page, open, submit, ended }) => {
  const returned = await submit({ name: MARKUP, parameters: { text: MARKUP }, tags: { kind: MARKUP.slice(0, 40) } });
  const logged = await submit({
    name: MARKUP.slice(0, 70),
    task: "queue.process",
    parameters: { records: [{}], required_fields: [MARKUP] },
  });
  const { execution_id: id } = await ended(returned);
  const { execution_id: loggedId } = await ended(logged);
  await open(`/jobs/${returned.job_id}`);
  await expect(page.getByRole("heading", { name: MARKUP })).toBeVisible();
  const main = page.getByRole("main");
  for (const tab of ["parameters", "result", "json", "events"]) {
    await show(page, `/executions/${id}?tab=${tab}`);
    await expect(main.getByRole("heading", { name: MARKUP })).toBeVisible();
    if (tab !== "events") await expect(main.locator("pre").getByText("onerror").first()).toBeVisible();
    await expectHarmless();
  }
  await show(page, `/executions/${loggedId}`);
  await expect(page.getByRole("log").getByText("onerror")).toBeVisible();
  await expectHarmless();
  for (const view of ["/jobs", "/executions", `/jobs?name=${encodeURIComponent(MARKUP)}`, "/"]) {
    await show(page, view);
    await expectHarmless();
  }

  async function expectHarmless(): Promise<void> {
    expect(await page.locator("img, main script").count()).toBe(0);
    expect(await page.title()).toContain("Punctual");
  }
});
