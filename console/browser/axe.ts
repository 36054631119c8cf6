import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Run axe-core in the page with all rules, or these, and return each violation as text. */
export default async function violations(page: Page, rules: string[] | null = null): Promise<string[]> {
  if (!(await page.evaluate("Boolean(window.axe)"))) await page.evaluate(SOURCE);
  return page.evaluate(async (only) => {
    // biome-ignore lint/suspicious/noExplicitAny: the script defines it
    const found = await (window as any).axe.run(only ? { runOnly: only } : {});
    return found.violations.flatMap((one: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
      one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
    );
  }, rules);
}
