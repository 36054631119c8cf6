/** A list of 10,000 jobs shows a page at a time. The end-to-end suite stores the jobs, and then runs this file alone. */

import { expect, show, test } from "./stack";

const { LARGE_TEAM } = process.env;
const PAGE = 50;
const REPEATS = 3;
/** 200 ms on an idle machine. The machine of a test is busy: the limit finds what depends on the length of the list. */
const LONGEST_TASK_MS = 1_000;

test.skip(!LARGE_TEAM, "the jobs are not stored");

test("a list of 10,000 jobs is shown page by page", async ({ page, open }) => {
  const requests = new Set<string>();
  page.on("request", (one) => {
    if (one.url().includes("/jobs?") && !one.url().includes("/console/")) requests.add(one.url());
  });
  await page.addInitScript(observeLongTasks);
  await open(`/jobs?owner=${LARGE_TEAM}`);
  const rows = page.getByRole("table", { name: "Jobs" }).locator("tbody").getByRole("row");
  await expect(rows).toHaveCount(PAGE);
  await expect(page.getByText(/10,000 match/)).toBeVisible();
  expect(requests.size).toBe(2); // the first page, and how many match
  await page.getByRole("button", { name: "Load more" }).click();
  await expect(rows).toHaveCount(2 * PAGE);

  const longest: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    await show(page, "/tasks");
    await page.evaluate("longest = 0");
    await show(page, `/jobs?owner=${LARGE_TEAM}`);
    await expect(rows).toHaveCount(PAGE);
    longest.push(await page.evaluate<number>("longest"));
  }
  expect(Math.min(...longest)).toBeLessThan(LONGEST_TASK_MS);
});

/** Runs in the page: `longest` is the longest task in milliseconds. */
function observeLongTasks(): void {
  const page = globalThis as unknown as { longest: number };
  page.longest = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) page.longest = Math.max(page.longest, one.duration);
  }).observe({ type: "longtask", buffered: true });
}
