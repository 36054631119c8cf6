import { expect, it } from "vitest";
import { withoutIds } from "./ids";
import { when, zone } from "./time";

zone.value = "UTC";

it("has due instants in place of the ids of executions", () => {
  const due = when(new Date("2026-11-19T18:20:00Z"));
  expect(withoutIds("waits for orders: 20261119T182000000Z-01m7t7rk1a0vqgq68vyxw1rf67, and 2 more")).toBe(
    `waits for orders: due ${due}, and 2 more`,
  );
  expect(withoutIds("retry of 20261119T182000000Z-01m7t7rk1a0vqgq68vyxw1rf67-run-93b912d6.")).toBe(
    `retry of due ${due}.`,
  );
  expect(withoutIds("no id")).toBe("no id");
});
