import { expect, it } from "vitest";
import type { components } from "../../api/schema";
import { drawnOf } from "./graph-drawn";

type JobGraph = components["schemas"]["JobGraph"];

function graphOf(indirect: number): JobGraph {
  const one = (job_id: string) => ({ job_id }) as JobGraph["upstreams"][number];
  const far = Array.from({ length: indirect }, (_, number) => `far-${number}`);
  const edges = [...far, "load"].map((upstream) => ({
    upstream,
    dependant: upstream === "load" ? "orders" : "load",
    condition: "succeeded" as const,
  }));
  return { upstreams: [one("load")], dependants: [], indirect: far.map(one), edges, is_complete: true };
}

it("draws indirect jobs with their edges", () => {
  expect(drawnOf("orders", graphOf(1))).toEqual({
    ids: ["orders", "load", "far-0"],
    edges: [
      { from: "far-0", to: "load" },
      { from: "load", to: "orders" },
    ],
  });
});

it("draws only the neighbours of a job if there are more than 60 jobs", () => {
  expect(drawnOf("orders", graphOf(60))).toEqual({ ids: ["orders", "load"], edges: [{ from: "load", to: "orders" }] });
});
