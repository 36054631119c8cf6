import { marksOf } from "../../../components/axis-marks";
import { type Axis, positionOn } from "../../../components/deadline-axis";
import { clock, clockSeconds, offsetOf, when } from "../../../format/time";
import { now } from "../../../state/clock";

const DAY_MS = 86_400_000;
const SHORT_MS = 300_000;
/** A name this close to another one (in percent) is left out. */
const NEAR = 8;

/** The instants of the axis, now and the deadline. */
export function Head({ axis, current, deadline }: { axis: Axis; current: number | null; deadline: number | null }) {
  const span = axis.until - axis.from;
  const text = (at: number) => (span > DAY_MS ? when : span < SHORT_MS ? clockSeconds : clock)(new Date(at));
  const all = [
    ...(deadline === null ? [] : [{ at: deadline, text: "Deadline" }]),
    ...(current === null ? [] : [{ at: current, text: "Now" }]),
  ].map((one) => ({ ...one, percent: positionOn(axis, one.at) }));
  const fixed = all.filter((one, position) => position === 0 || Math.abs(one.percent - (all[0]?.percent ?? 0)) > NEAR);
  const marks = marksOf(axis.from, axis.until, offsetOf(now.value)).filter(
    (mark) =>
      mark.percent > 3 && mark.percent < 96 && fixed.every((one) => Math.abs(one.percent - mark.percent) > NEAR),
  );
  return (
    <div class="timeline-head" aria-hidden="true">
      <span>Part</span>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the whole head is hidden, each row names its instants */}
      <svg width="100%" height="20">
        {marks.map((mark) => (
          <text key={mark.at} x={`${mark.percent}%`} y="14" class="bar-label" text-anchor="middle">
            {text(mark.at)}
          </text>
        ))}
        {fixed.map((one) => (
          <text
            key={one.text}
            x={`${one.percent}%`}
            y="14"
            class="bar-label is-strong"
            text-anchor={one.percent > 90 ? "end" : one.percent < 5 ? "start" : "middle"}
          >
            {one.text}
          </text>
        ))}
      </svg>
      <span class="number">Done</span>
      <span class="number">Time</span>
    </div>
  );
}
