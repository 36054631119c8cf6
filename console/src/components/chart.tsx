/** A chart over time, drawn by uPlot, which is loaded with the first chart. Colours come from the theme. */

import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { zone } from "../format/time";
import { isDark } from "../state/theme";
import { complain } from "./toasts";

/** A name of a colour in `tokens.css`, such as `live-fill`. */
export type Token = string;

export interface Line {
  title: string;
  token: Token;
  /** As drawn: a line, dots, squares for what went wrong, or columns. */
  kind: "line" | "dashed" | "dots" | "squares" | "columns";
  values: (number | null)[];
}

interface Props {
  /** What it shows, in one sentence: for readers that do not see it. */
  label: string;
  /** Instants in milliseconds, ascending. */
  times: number[];
  lines: Line[];
  height?: number;
  isLogarithmic?: boolean;
  /** A value as text, on the axis and in the legend. */
  text: (value: number) => string;
}

export function Chart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [library, setLibrary] = useState<typeof uPlot | null>(null);
  const { times, lines, height = 160 } = props;
  const theme = isDark.value;
  const timeZone = zone.value;
  const shape = JSON.stringify([lines.map(({ title, token, kind }) => [title, token, kind]), height, theme, timeZone]);
  const chart = useRef<uPlot | null>(null);

  useEffect(() => {
    let isOver = false;
    import("./chart-library").then((loaded) => !isOver && setLibrary(() => loaded.default)).catch(complain);
    return () => {
      isOver = true;
    };
  }, []);

  const data = [times.map((one) => one / 1000), ...lines.map((one) => one.values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;

  // Another `shape` needs another chart; other data do not.
  useEffect(() => {
    const parent = box.current;
    if (!library || !parent) return undefined;
    const drawn = new library(options(library, props, parent.clientWidth), latest.current, parent);
    chart.current = drawn;
    const observer = new ResizeObserver(() => drawn.setSize({ width: parent.clientWidth, height }));
    observer.observe(parent);
    return () => {
      observer.disconnect();
      drawn.destroy();
      chart.current = null;
    };
  }, [library, shape]);

  const content = JSON.stringify(data);
  useEffect(() => {
    chart.current?.setData(latest.current);
  }, [content]);

  return <div ref={box} class="chart" role="img" aria-label={props.label} />;
}

function options(library: typeof uPlot, { lines, height = 160, isLogarithmic, text }: Props, width: number) {
  const grid = { stroke: colour("line"), width: 1, ...(isLogarithmic && { filter: onlyPowersOfTen }) };
  const axis = { stroke: colour("text-3"), grid, ticks: { show: false }, font: `12px ${colour("sans")}` };
  return {
    width,
    height,
    tzDate: (seconds: number) => library.tzDate(new Date(seconds * 1000), zone.value),
    cursor: { drag: { x: false, y: false } },
    legend: { show: true },
    scales: { x: { time: true }, y: isLogarithmic ? { distr: 3 as const, range: powersOfTen } : { range: fromZero } },
    axes: [
      { ...axis, values: DATES },
      {
        ...axis,
        size: 72,
        values: (_: uPlot, splits: number[]) => splits.map((one) => (one == null ? "" : text(one))),
      },
    ],
    series: [
      { label: "Time", value: "{ddd} {D} {MMM} {HH}:{mm}" },
      ...lines.map((line) => ({
        label: line.title,
        value: (_: uPlot, value: number | null) => (value == null ? "–" : text(value)),
        ...drawing(library, line),
      })),
    ],
  } satisfies uPlot.Options;
}

const fromZero = (_: uPlot, _min: number, max: number): [number, number] => [0, (max || 1) * 1.1];

/** The library never returns from the axis of a logarithmic scale without extent. */
const powersOfTen = (_: uPlot, min: number | null, max: number | null): [number, number] => [
  10 ** Math.floor(Math.log10(Math.min(min ?? 0.1, 0.1))),
  10 ** Math.ceil(Math.log10(Math.max(max ?? 10, 10))),
];

const onlyPowersOfTen = (_: uPlot, splits: number[]) =>
  splits.map((one) => (Number.isInteger(Math.round(Math.log10(one) * 1e6) / 1e6) ? one : null));

const DAY = 86_400;
/** Hours within a day, days beyond: 24-hour clock, as everywhere in the console. */
const DATES: uPlot.Axis.Values = [
  [365 * DAY, "{YYYY}", null, null, null, null, null, null, 1],
  [28 * DAY, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [DAY, "{D} {MMM}", null, null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{D} {MMM}", null, null, null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", null, null, null, null, null, null, 1],
];

function drawing(library: typeof uPlot, { kind, token }: Line): Partial<uPlot.Series> {
  const stroke = colour(token);
  if (kind === "line") return { stroke, width: 1.5, points: { show: false } };
  if (kind === "dashed") return { stroke, width: 1, dash: [4, 4], points: { show: false } };
  if (kind === "columns") {
    const paths = library.paths.bars?.({ size: [0.8] });
    return { stroke, fill: stroke, points: { show: false }, ...(paths && { paths }) };
  }
  const size = kind === "dots" ? 6 : 8;
  return { stroke, width: 0, paths: () => null, points: { show: true, size, fill: stroke, stroke } };
}

function colour(token: Token): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
}
