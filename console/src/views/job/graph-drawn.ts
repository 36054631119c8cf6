/** Which jobs of a graph are drawn: all, or the direct neighbours if there are too many to read. */

import type { components } from "../../api/schema";
import type { Edge } from "./graph-layout";

type JobGraph = components["schemas"]["JobGraph"];

const MOST_DRAWN = 60;

export function drawnOf(jobId: string, graph: JobGraph): { ids: string[]; edges: Edge[] } {
  const direct = [...graph.upstreams, ...graph.dependants].map((one) => one.job_id);
  const all = [jobId, ...direct, ...graph.indirect.map((one) => one.job_id)];
  const ids = all.length > MOST_DRAWN ? [jobId, ...direct] : all;
  const drawn = new Set(ids);
  const edges = graph.edges.map((one) => ({ from: one.upstream, to: one.dependant }));
  return { ids, edges: edges.filter(({ from, to }) => drawn.has(from) && drawn.has(to)) };
}
