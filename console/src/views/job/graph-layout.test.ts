import { describe, expect, it } from "vitest";
import { NODE, place } from "./graph-layout";

describe("the layout of a graph", () => {
  const placed = place(
    ["load", "orders", "score"],
    [
      { from: "load", to: "orders" },
      { from: "orders", to: "score" },
    ],
  );

  it("goes from left to right", () => {
    const columns = ["load", "orders", "score"].map((id) => placed.nodes.get(id)?.x ?? 0);
    expect(columns).toEqual([...columns].sort((one, other) => one - other));
    expect((columns[1] ?? 0) - (columns[0] ?? 0)).toBeGreaterThan(NODE.width);
  });

  it("gives each edge a path", () => {
    expect(placed.edges.map((edge) => edge.points.length > 1)).toEqual([true, true]);
  });
});
