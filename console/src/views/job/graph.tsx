/** The jobs that this one waits for and those that wait for it, with their live status. A click opens one. */

import { useEffect, useState } from "preact/hooks";
import type { components } from "../../api/schema";
import type { Job } from "../../api/types";
import { Link } from "../../components/link";
import { Empty } from "../../components/states";
import { DeadlineStatus, ExecutionStatus, JobState, words } from "../../components/status";
import { nameOf } from "../jobs/view";
import type { Placed } from "./graph-layout";

type JobGraph = components["schemas"]["JobGraph"];
type RelatedJob = components["schemas"]["RelatedJob"];

export function Graph({ job, graph }: { job: Job; graph: JobGraph }) {
  const [placed, setPlaced] = useState<Placed | null>(null);
  const { upstreams, dependants } = graph;
  const ids = [...upstreams.map(idOf), job.job_id, ...dependants.map(idOf)];
  const edges = [
    ...upstreams.map((one) => ({ from: one.job_id, to: job.job_id })),
    ...dependants.map((one) => ({ from: job.job_id, to: one.job_id })),
  ];
  const shape = JSON.stringify([ids, edges]);
  useEffect(() => {
    let isOver = false;
    import("./graph-layout").then(({ place }) => {
      const [nodes, arrows] = JSON.parse(shape);
      if (!isOver) setPlaced(place([...new Set<string>(nodes)], arrows));
    });
    return () => {
      isOver = true;
    };
  }, [shape]);
  if (edges.length === 0) {
    return (
      <Empty title="No dependencies">
        <p>This job waits for no other job, and no job waits for it.</p>
      </Empty>
    );
  }
  return (
    <div class="body padded">
      <div class="scroll wide-only">{placed && <Drawing job={job} graph={graph} placed={placed} />}</div>
      <List title="Waits for" jobs={upstreams} />
      <List title="Waits for this" jobs={dependants} />
    </div>
  );
}

function Drawing({ job, graph, placed }: { job: Job; graph: JobGraph; placed: Placed }) {
  const condition = new Map([
    ...graph.upstreams.map((one) => [`${one.job_id} ${job.job_id}`, one.condition] as const),
    ...graph.dependants.map((one) => [`${job.job_id} ${one.job_id}`, one.condition] as const),
  ]);
  const related = new Map([...graph.upstreams, ...graph.dependants].map((one) => [one.job_id, one]));
  return (
    <svg
      width={placed.width}
      height={placed.height}
      role="img"
      aria-label="Dependencies, as listed below"
      class="graph"
    >
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
          <path d="M0 0l8 4-8 4z" />
        </marker>
      </defs>
      {placed.edges.map(({ from, to, points }) => {
        const middle = points[Math.floor(points.length / 2)];
        return (
          <g key={`${from} ${to}`}>
            <path d={`M${points.map(({ x, y }) => `${x} ${y}`).join("L")}`} class="edge" marker-end="url(#arrow)" />
            {middle && (
              <text x={middle.x} y={middle.y - 4} text-anchor="middle" class="note-text">
                {words(condition.get(`${from} ${to}`) ?? "").toLowerCase()}
              </text>
            )}
          </g>
        );
      })}
      {[...placed.nodes].map(([id, { x, y }]) => {
        const one = related.get(id);
        return (
          <foreignObject key={id} x={x} y={y} width="190" height="46">
            {one ? (
              <Link to={`/jobs/${id}`} class="node" tabIndex={-1}>
                <b>{one.name ?? id}</b>
                <Status job={one} />
              </Link>
            ) : (
              <span class="node is-current">
                <b>{nameOf(job)}</b>
                <JobState state={job.state} />
              </span>
            )}
          </foreignObject>
        );
      })}
    </svg>
  );
}

function List({ title, jobs }: { title: string; jobs: RelatedJob[] }) {
  if (jobs.length === 0) return null;
  return (
    <>
      <h3 class="spaced">{title}</h3>
      <ul class="list-rows">
        {jobs.map((one) => (
          <li key={one.job_id}>
            <Link to={`/jobs/${one.job_id}`} class="name">
              {one.name ?? one.job_id}
            </Link>
            <span class="dim">if {words(one.condition).toLowerCase()}</span>
            <Status job={one} />
            {one.deadline_state && <DeadlineStatus state={one.deadline_state} />}
          </li>
        ))}
      </ul>
    </>
  );
}

function Status({ job }: { job: RelatedJob }) {
  if (job.running > 0)
    return <ExecutionStatus status="running" detail={job.running > 1 ? String(job.running) : undefined} />;
  if (job.last_status) return <ExecutionStatus status={job.last_status} />;
  return <JobState state={job.state} />;
}

function idOf(job: RelatedJob): string {
  return job.job_id;
}
