/** Lists over 10,000 jobs and 100,000 executions. The end-to-end suite stores them, and then runs this file alone. */

import type { Browser, Page } from "@playwright/test";
import { expect, show, test } from "./stack";

const PAGE = 50;
/** Of processor time: a task that a busy machine interrupts counts only what it computes. */
const LONGEST_TASK_MS = 200;

test.skip(!process.env.LARGE, "no large tables are stored");

for (const { table, path, match } of [
  { table: "Jobs", path: "/jobs", match: "10,000 match" },
  { table: "Executions", path: "/executions", match: "More than 10,000 match" },
])
  test(`the list of ${table.toLowerCase()} is shown page by page`, async ({ page, open }) => {
    const rows = page.getByRole("table", { name: table }).locator("tbody").getByRole("row");
    const requests = new Set<string>();
    page.on("request", (one) => {
      if (one.url().includes(`${path}?`) && !one.url().includes("/console/")) requests.add(one.url());
    });
    await open("/tasks");
    const longest = await longestTask(page, async () => {
      await show(page, path);
      await expect(rows).toHaveCount(PAGE);
      await expect(page.getByText(match, { exact: true })).toBeVisible();
      expect(requests.size).toBe(2); // the first page, and how many match
      await page.getByRole("button", { name: "Load more" }).click();
      await expect(rows).toHaveCount(2 * PAGE);
      expect(requests.size).toBe(3);
    });
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(LONGEST_TASK_MS);
  });

/** The longest task of the page while `act` runs, in milliseconds of processor time. */
async function longestTask(page: Page, act: () => Promise<void>): Promise<number> {
  const browser = page.context().browser() as Browser;
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline"] });
  await act();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
  const tasks = traceEvents.filter((one) => one.name === "RunTask" && one.tdur !== undefined);
  return Math.max(...tasks.map((one) => Number(one.tdur) / 1000));
}

interface TraceEvent {
  name: string;
  /** Processor time of the thread in microseconds. */
  tdur?: number;
}
