/** The marks of one row of the calendar, in SVG. */

import { useMemo } from "preact/hooks";
import { STATUS_SHAPES } from "../../components/icon-shapes";
import { declutter } from "./declutter";
import { layoutRun, type RunLayout } from "./layout";
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

function Runs({ row, scale, now, from, to }: Props) {
  const layouts = useMemo(() => {
    const isLong = row.job.lane === "long";
    const line = now >= from && now < to ? scale.x(now) : null;
    return declutter(
      row.runs,
      row.runs.map((run) => layoutRun(run, scale, now, { isLong })),
      line,
    );
  }, [row, scale, now, from, to]);
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
      <Unknown row={row} scale={scale} from={from} to={to} cells={cells} />
    </>
  );
}

function cellClass(cell: Cell): string {
  if (isRemarkable(cell)) return `fill-${hueOf(cell.worst)}`;
  return cell.isPlanned ? "cell-planned" : "fill-idle";
}

/** The API lists at most 100 past and 100 future runs of a job: elsewhere the row says so. */
function Unknown({ row, scale, from, to, cells }: Omit<Props, "now"> & { cells: Cell[] }) {
  const first = Math.min(Date.parse(row.job.complete_from), cells[0]?.from ?? to);
  const last = Math.max(Date.parse(row.job.complete_to), cells.at(-1)?.to ?? from);
  return (
    <>
      {Date.parse(row.job.complete_from) > from && (
        <Note from={0} to={scale.x(first)} text="Earlier runs: see the job" isBefore />
      )}
      {last < to && <Note from={scale.x(last)} to={scale.width} text="And so on" />}
    </>
  );
}

const CHARACTER = 7;
const NOTE_GAP = 8;

/** Beside the cells that are known; dots where there is no room for words. */
function Note({ from, to, text, isBefore = false }: { from: number; to: number; text: string; isBefore?: boolean }) {
  const hasRoom = to - from > text.length * CHARACTER + 2 * NOTE_GAP;
  if (!hasRoom) return to - from > NOTE_GAP ? <path d={`M${from + 4} ${MIDDLE}H${to - 4}`} class="unknown" /> : null;
  return (
    <text
      x={isBefore ? to - NOTE_GAP : from + NOTE_GAP}
      y={MIDDLE + 4}
      text-anchor={isBefore ? "end" : "start"}
      class="label hue-idle"
    >
      {text}
    </text>
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
      <Unknown row={row} scale={scale} from={from} to={Math.min(to, now)} cells={cells} />
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
