import { marksOf } from "../../components/axis-marks";
import type { Axis } from "../../components/deadline-axis";
import { positionOn } from "../../components/deadline-axis";
import { clock, day, offsetOf } from "../../format/time";
import { now } from "../../state/clock";

const DAY_MS = 86_400_000;
/** A name this close to "Now" (in percent) is left out. */
const NEAR = 7;

/** The head of the list: one time axis for all rows. */
export function AxisHead({ axis }: { axis: Axis }) {
  const current = now.value.getTime();
  const isLong = axis.until - axis.from > 2 * DAY_MS;
  const at = positionOn(axis, current);
  const marks = marksOf(axis.from, axis.until, offsetOf(new Date(current)));
  return (
    <div class="deadline-row is-head" aria-hidden="true">
      <span>Execution</span>
      <span>State</span>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the whole head is hidden, each row names its instants */}
      <svg width="100%" height="20">
        {marks
          .filter((mark) => Math.abs(mark.percent - at) > NEAR && mark.percent < 95)
          .map((mark) => (
            <text key={mark.at} x={`${mark.percent}%`} y="14" class="bar-label" text-anchor="middle">
              {isLong ? day(new Date(mark.at)) : clock(new Date(mark.at))}
            </text>
          ))}
        <text x={`${at}%`} y="14" class="bar-label is-strong" text-anchor="middle">
          Now
        </text>
      </svg>
      <span class="number">Slack at P95</span>
    </div>
  );
}
