/** The slots of the long lane over time: used before now, in demand after it, against their number. */

import type { Calendar, CalendarJob } from "../../api/types";
import { plural } from "../../format/duration";
import { demandOf, overLimit } from "../../format/slot-levels";
import type { Range, Scale } from "./range";
import { usageOf } from "./usage";
import { moment } from "./words";

const HEIGHT = 60;
const TOP = 14;

interface Props {
  lane: NonNullable<Calendar["long_lane"]>;
  jobs: CalendarJob[];
  range: Range;
  scale: Scale;
  now: number;
}

export function Slots({ lane, jobs, range, scale, now }: Props) {
  const used = usageOf(jobs, range.from, Math.min(now, range.to));
  const demand = demandOf(lane.hours, Math.max(now, range.from), range.to);
  const peak = Math.max(lane.tasks, ...demand.map((one) => one.tasks), ...used.map((one) => one.tasks));
  const y = (tasks: number) => HEIGHT - (tasks / peak) * (HEIGHT - TOP);
  const line = (points: { at: number; tasks: number }[]) =>
    points.map((point) => `${scale.x(point.at)} ${y(point.tasks)}`).join("L");
  const area = (points: { at: number; tasks: number }[]) =>
    points.length
      ? `M${scale.x(points[0]?.at ?? 0)} ${HEIGHT}L${line(points)}L${scale.x(points.at(-1)?.at ?? 0)} ${HEIGHT}Z`
      : "";
  const over = overLimit(demand, lane.tasks);
  const said = over.length
    ? `From ${moment(new Date(over[0]?.from ?? 0))} the lane needs up to ${Math.ceil(over[0]?.peak ?? 0)} slots: executions wait.`
    : "The demand stays within the limit.";
  return (
    <div class="calendar-row calendar-slots">
      <div class="calendar-name">
        <span class="between">
          <b>Slots</b>
          <span class="dim">{lane.tasks}</span>
        </span>
        <span class="note">{lane.tasks} in the long lane</span>
      </div>
      <svg
        class="calendar-track"
        width={scale.width}
        height={HEIGHT}
        role="img"
        aria-label={`Slots of the long lane, of ${lane.tasks}. ${said}`}
      >
        <path d={area(used)} class="slots-used" />
        {used.length > 0 && <path d={`M${line(used)}`} class="slots-used-line" />}
        <path d={area(demand)} class="slots-demand" />
        {demand.length > 0 && <path d={`M${line(demand)}`} class="slots-demand-line" />}
        {over.map((one) => (
          <rect
            key={one.from}
            x={scale.x(one.from)}
            y={y(one.peak)}
            width={Math.max(4, scale.x(one.to) - scale.x(one.from))}
            height={y(lane.tasks) - y(one.peak)}
            class="bar-late"
          />
        ))}
        <path d={`M0 ${y(lane.tasks)}H${scale.width}`} class="slots-limit" />
        {over[0] && (
          <OverText
            x={scale.x(over[0].from)}
            text={`${plural(Math.ceil(over[0].peak - lane.tasks), "part")} will wait`}
          />
        )}
      </svg>
    </div>
  );
}

function OverText({ x, text }: { x: number; text: string }) {
  const isLeft = x > text.length * 7;
  return (
    <text x={isLeft ? x - 6 : x + 6} y={TOP - 2} text-anchor={isLeft ? "end" : "start"} class="label hue-bad">
      {text}
    </text>
  );
}
