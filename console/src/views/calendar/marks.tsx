/** The marks of one row of the calendar, in SVG. */

import { useMemo } from "preact/hooks";
import { STATUS_SHAPES } from "../../components/icon-shapes";
import { keepLabels, layoutRun, type RunLayout } from "./layout";
import type { Scale } from "./range";
import { type Cell, cellsOf, isRemarkable, type Row } from "./rows";
import { hueOf, type Run } from "./runs";
import { cellInWords, runInWords } from "./words";

const MIDDLE = 16;
const BAR = 12;
const LEAST_HIT = 24;

interface Props {
  row: Row;
  scale: Scale;
  now: number;
  from: number;
  to: number;
}

export function Marks(props: Props) {
  if (props.row.kind === "cells") return <Cells {...props} />;
  if (props.row.kind === "volume") return <Volume {...props} />;
  return <Runs {...props} />;
}

function Runs({ row, scale, now }: Props) {
  const layouts = useMemo(
    () => keepLabels(row.runs.map((run) => layoutRun(run, scale, now, { isLong: row.job.lane === "long" }))),
    [row, scale, now],
  );
  return (
    <>
      {row.runs.map((run, position) => (
        <RunMark key={run.key} name={row.name} run={run} layout={layouts[position] as RunLayout} />
      ))}
    </>
  );
}

function RunMark({ name, run, layout }: { name: string; run: Run; layout: RunLayout }) {
  const { bars, glyph, whisker, flag, label } = layout;
  return (
    <g {...markProps(run.key, label ? `${runInWords(name, run)}, ${label.text}` : runInWords(name, run))}>
      <Hit from={layout.from} to={layout.to} />
      {bars.map((bar) => (
        <rect
          key={`${bar.kind}${bar.x}`}
          x={bar.x}
          y={MIDDLE - BAR / 2}
          width={bar.width}
          height={BAR}
          rx={Math.min(4, bar.width / 2)}
          class={`bar-${bar.kind}`}
        />
      ))}
      {whisker && <path d={`M${whisker.from} ${MIDDLE}H${whisker.to}M${whisker.to} ${MIDDLE - 4}v8`} class="whisker" />}
      {flag !== null && <path d={`M${flag} 27V5h6.5l-2 2.6 2 2.6h-6.5`} class="flag" />}
      {glyph && <Glyph {...glyph} />}
      {label && (
        <text x={label.x} y={MIDDLE + 4} text-anchor={label.anchor} class={`label hue-${label.hue}`}>
          {label.text}
        </text>
      )}
    </g>
  );
}

function Glyph({ x, icon, hue }: { x: number; icon: string; hue: string }) {
  return (
    <g
      transform={`translate(${x - 8} ${MIDDLE - 8})`}
      class={`glyph hue-${hue}`}
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      {STATUS_SHAPES[icon as keyof typeof STATUS_SHAPES]}
    </g>
  );
}

function Cells({ row, scale, from, to }: Props) {
  const cells = useMemo(() => cellsOf(row, from), [row, from]);
  return (
    <>
      {cells.map((cell) => {
        const x = scale.x(cell.from) + 0.75;
        const width = Math.max(2, scale.x(cell.to) - scale.x(cell.from) - 1.5);
        const height = isRemarkable(cell) ? 16 : 8;
        return (
          <g key={cell.key} {...markProps(cell.key, cellInWords(row, cell))}>
            <Hit from={x} to={x + width} least={0} />
            <rect x={x} y={MIDDLE - height / 2} width={width} height={height} rx="1" class={cellClass(cell)} />
          </g>
        );
      })}
      <Unknown row={row} scale={scale} from={from} to={to} />
    </>
  );
}

function cellClass(cell: Cell): string {
  if (isRemarkable(cell)) return `fill-${hueOf(cell.worst)}`;
  return cell.isPlanned ? "cell-planned" : "fill-idle";
}

/** The API lists at most 100 past and 100 future runs of a job: elsewhere the row says so. */
function Unknown({ row, scale, from, to }: Omit<Props, "now">) {
  const first = Date.parse(row.job.complete_from);
  const last = Date.parse(row.job.complete_to);
  return (
    <>
      {first > from && <Note from={0} to={scale.x(first)} text="Earlier runs: see the job" />}
      {last < to && <Note from={scale.x(last)} to={scale.width} text="And so on" />}
    </>
  );
}

function Note({ from, to, text }: { from: number; to: number; text: string }) {
  const hasRoom = to - from > text.length * 7 + 16;
  return hasRoom ? (
    <text x={(from + to) / 2} y={MIDDLE + 4} text-anchor="middle" class="label hue-idle">
      {text}
    </text>
  ) : (
    <path d={`M${from + 2} ${MIDDLE}H${to - 2}`} class="unknown" />
  );
}

const TALLEST = 20;
const FLOOR = 26;

function Volume({ row, scale, now, from, to }: Props) {
  const cells = useMemo(() => cellsOf(row, from), [row, from]);
  const most = Math.max(1, ...cells.map((cell) => cell.runs.length));
  const x = scale.x(now);
  return (
    <>
      {cells.map((cell) => {
        const width = Math.max(2, scale.x(cell.to) - scale.x(cell.from) - 1);
        const height = Math.max(2, (cell.runs.length / most) * TALLEST);
        return (
          <g key={cell.key} {...markProps(cell.key, cellInWords(row, cell))}>
            <Hit from={scale.x(cell.from)} to={scale.x(cell.from) + width} least={0} />
            <rect x={scale.x(cell.from)} y={FLOOR - height} width={width} height={height} class="volume" />
            {cell.failed > 0 && <rect x={scale.x(cell.from)} y={FLOOR} width={width} height="3" class="fill-bad" />}
          </g>
        );
      })}
      {now < to && x < scale.width - 130 && (
        <text x={Math.max(x, 0) + 8} y={MIDDLE + 4} class="label hue-idle">
          as messages come
        </text>
      )}
      <Unknown row={row} scale={scale} from={from} to={Math.min(to, now)} />
    </>
  );
}

/** What receives clicks and shows the focus. */
function Hit({ from, to, least = LEAST_HIT }: { from: number; to: number; least?: number }) {
  const width = Math.max(least, to - from + 4);
  const middle = (from + to) / 2;
  return <rect x={middle - width / 2} y="2" width={width} height="28" rx="4" class="hit" />;
}

function markProps(key: string, label: string) {
  // SVG elements know the attribute in lower case only
  return { role: "gridcell", tabindex: -1, "data-key": key, "aria-label": label, class: "calendar-mark" } as const;
}
