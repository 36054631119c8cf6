/** The layout of the dependency graph, left to right. In a file of its own, with its library, for the first graph. */

import { Graph, layout } from "@dagrejs/dagre";

export const NODE = { width: 190, height: 46 };

export interface Edge {
  from: string;
  to: string;
}

export interface Placed {
  width: number;
  height: number;
  /** The upper left corner of each node. */
  nodes: Map<string, { x: number; y: number }>;
  edges: (Edge & { points: { x: number; y: number }[] })[];
}

export function place(ids: string[], edges: Edge[]): Placed {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 16, ranksep: 72, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { ...NODE });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const corner = (id: string) => {
    const { x = 0, y = 0 } = graph.node(id);
    return { x: x - NODE.width / 2, y: y - NODE.height / 2 };
  };
  return {
    width,
    height,
    nodes: new Map(ids.map((id) => [id, corner(id)])),
    edges: edges.map((edge) => ({ ...edge, points: graph.edge(edge.from, edge.to).points ?? [] })),
  };
}
