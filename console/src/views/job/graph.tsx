/** What this job waits for and what waits for it, with live status. A click opens a job. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { components } from "../../api/schema";
import type { Job } from "../../api/types";
import { Link } from "../../components/link";
import { Empty } from "../../components/states";
import { DeadlineStatus, ExecutionStatus, JobState, words } from "../../components/status";
import { complain } from "../../components/toasts";
import { nameOf } from "../jobs/view";
import { drawnOf } from "./graph-drawn";
import type { Placed } from "./graph-layout";

type JobGraph = components["schemas"]["JobGraph"];
type GraphJob = components["schemas"]["GraphJob"];
type RelatedJob = components["schemas"]["RelatedJob"];

/** As the layout has it, which is loaded later. */
const NODE_WIDTH = 190;

export function Graph({ job, graph }: { job: Job; graph: JobGraph }) {
  const [placed, setPlaced] = useState<Placed | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const { upstreams, dependants, indirect } = graph;
  const shape = JSON.stringify(drawnOf(job.job_id, graph));
  useEffect(() => {
    let isOver = false;
    import("./graph-layout")
      .then(({ place }) => {
        const { ids, edges } = JSON.parse(shape) as ReturnType<typeof drawnOf>;
        if (!isOver) setPlaced(place(ids, edges));
      })
      .catch(complain);
    return () => {
      isOver = true;
    };
  }, [shape]);
  useLayoutEffect(() => {
    const corner = placed?.nodes.get(job.job_id);
    if (box.current && corner) box.current.scrollLeft = corner.x - (box.current.clientWidth - NODE_WIDTH) / 2;
  }, [placed, job.job_id]);
  if (graph.edges.length === 0) {
    return (
      <Empty title="No dependencies">
        <p>This job waits for no other job, and no job waits for it.</p>
      </Empty>
    );
  }
  return (
    <div class="body padded">
      <div class="scroll wide-only" ref={box}>
        {placed && <Drawing job={job} graph={graph} placed={placed} />}
      </div>
      {!graph.is_complete && <p class="note">There are more jobs than shown. Open one to see those around it.</p>}
      <List title="Waits for" jobs={upstreams} />
      <List title="Waits for this" jobs={dependants} />
      <List title="Further away" jobs={indirect} />
    </div>
  );
}

function Drawing({ job, graph, placed }: { job: Job; graph: JobGraph; placed: Placed }) {
  const condition = new Map(graph.edges.map((one) => [`${one.upstream} ${one.dependant}`, one.condition]));
  const related = new Map<string, GraphJob>(
    [...graph.upstreams, ...graph.dependants, ...graph.indirect].map((one) => [one.job_id, one]),
  );
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
          <foreignObject key={id} x={x} y={y} width={NODE_WIDTH} height="46">
            {one ? (
              <Link to={`/jobs/${id}`} class="node" tabIndex={-1}>
                <b>{one.job_name ?? id}</b>
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

function List({ title, jobs }: { title: string; jobs: (GraphJob | RelatedJob)[] }) {
  if (jobs.length === 0) return null;
  return (
    <>
      <h3 class="spaced">{title}</h3>
      <ul class="list-rows">
        {jobs.map((one) => (
          <li key={one.job_id}>
            <span>
              <Link to={`/jobs/${one.job_id}`} class="name">
                {one.job_name ?? one.job_id}
              </Link>
              {"condition" in one && <span class="dim"> if {words(one.condition).toLowerCase()}</span>}
            </span>
            <span class="actions">
              {one.deadline_state && <DeadlineStatus state={one.deadline_state} />}
              <Status job={one} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Status({ job }: { job: GraphJob }) {
  if (job.running > 0)
    return <ExecutionStatus status="running" detail={job.running > 1 ? String(job.running) : undefined} />;
  if (job.last_status) return <ExecutionStatus status={job.last_status} />;
  return <JobState state={job.state} />;
}
