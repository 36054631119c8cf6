/** Where the parts of a run are drawn: solid happened, outlined is a forecast, hatched waits or is late. */

import { coarse } from "../../format/duration";
import { hundredths, type Scale } from "./range";
import { hueOf, iconOf, isBad, isInDanger, isLive, type Run } from "./runs";

export type BarKind = "wait" | "ok" | "bad" | "idle" | "live" | "forecast" | "late";

export interface Bar {
  kind: BarKind;
  x: number;
  width: number;
}

export interface RunLayout {
  bars: Bar[];
  /** The status where a bar would be too short, or beside a bar that ended badly. */
  glyph: { x: number; icon: ReturnType<typeof iconOf>; hue: string } | null;
  /** From the median to the 95% forecast. */
  whisker: { from: number; to: number } | null;
  flag: number | null;
  label: { x: number; anchor: "start" | "end"; text: string; hue: string } | null;
  /** The whole of it. */
  from: number;
  to: number;
}

const LEAST_BAR = 10;
const LEAST_WAIT = 4;
const GLYPH = 16;
export const CHARACTER = 6.8;
const DAY_MS = 86_400_000;

export function layoutRun(run: Run, scale: Scale, now: number, { isLong }: { isLong: boolean }): RunLayout {
  const times = timesOf(run, now);
  const bars = [...pastBars(run, times, scale, now), ...forecastBars(times, scale, now)];
  const start = Math.max(GLYPH / 2, Math.min(scale.width - GLYPH / 2, scale.x(times.begin)));
  const end = bars.length ? Math.max(...bars.map((bar) => bar.x + bar.width)) : start;
  const isBare = bars.every((bar) => bar.kind === "wait");
  const glyph =
    isBare || isBad(run.outcome)
      ? { x: bars.length ? Math.min(end + GLYPH / 2 + 2, scale.width - GLYPH / 2) : start, ...lookOf(run) }
      : null;
  const whisker = whiskerOf(times, scale, bars);
  const flag = flagOf(run, times, scale, isLong);
  const to = Math.max(end, glyph ? glyph.x + GLYPH / 2 : 0, whisker?.to ?? 0, flag === null ? 0 : flag + 8);
  const from = Math.min(glyph ? glyph.x - GLYPH / 2 : start, ...bars.map((bar) => bar.x));
  return { bars, glyph, whisker, flag, label: labelOf(labelText(run, times, isLong), run, from, to, scale), from, to };
}

interface Times {
  due: number;
  begin: number;
  started: number | null;
  ended: number | null;
  median: number | null;
  p95: number | null;
  deadline: number | null;
}

function timesOf({ entry, at }: Run, now: number): Times {
  const instant = (text: string | null | undefined) => (text ? Date.parse(text) : null);
  const started = instant(entry.started_at);
  const isLater = started !== null && started - at > DAY_MS; // a backfill: it counts for the day that it repeats
  const hides = isLater && (entry.origin === "backfill" || entry.origin === "retry");
  return {
    due: at,
    begin: hides ? at : (started ?? at),
    started: hides ? null : started,
    ended: hides ? null : instant(entry.ended_at),
    median: hides && !isLive(entry) ? null : instant(entry.median_end),
    p95: instant(entry.p95_end),
    deadline: entry.status !== null || at > now ? instant(entry.deadline?.at) : null,
  };
}

function pastBars(run: Run, times: Times, scale: Scale, now: number): Bar[] {
  const live = isLive(run.entry);
  const bars: Bar[] = [];
  const waitEnd = times.started ?? (live ? now : null);
  if (waitEnd !== null && run.entry.origin !== "backfill" && run.entry.origin !== "retry")
    add(bars, "wait", times.due, waitEnd, scale, LEAST_WAIT);
  if (times.started === null) return bars;
  const kind = live ? "live" : (kindOf(run) as BarKind);
  add(bars, kind, times.started, times.ended ?? (live ? now : times.started), scale, LEAST_BAR);
  return bars;
}

function kindOf(run: Run): BarKind {
  const hue = hueOf(run.outcome);
  if (run.outcome === "deadline_missed") return "ok"; // it did succeed; its label says that it was late
  return hue === "bad" || hue === "ok" ? hue : "idle";
}

function forecastBars(times: Times, scale: Scale, now: number): Bar[] {
  if (times.median === null) return [];
  const begin = Math.max(times.due, times.started !== null || times.due < now ? now : times.due);
  const bars: Bar[] = [];
  const late = times.deadline !== null && times.p95 !== null && times.p95 > times.deadline ? times.deadline : null;
  const least = times.started !== null ? 1 : LEAST_BAR;
  add(
    bars,
    "forecast",
    begin,
    late === null ? times.median : Math.min(times.median, Math.max(late, begin)),
    scale,
    least,
  );
  if (late !== null) add(bars, "late", Math.max(late, begin), times.p95 as number, scale, 1);
  return bars;
}

function add(bars: Bar[], kind: BarKind, from: number, to: number, scale: Scale, least: number): void {
  const x = scale.x(from);
  const width = hundredths(scale.x(to) - x);
  if (width >= least) bars.push({ kind, x, width });
}

function lookOf(run: Run) {
  return { icon: iconOf(run.outcome), hue: hueOf(run.outcome) };
}

function whiskerOf(times: Times, scale: Scale, bars: Bar[]): RunLayout["whisker"] {
  const last = bars.at(-1);
  const forecast = bars.find((bar) => bar.kind === "forecast");
  if (times.p95 === null || !forecast || !last) return null;
  const from = forecast.x + forecast.width;
  const to = last.kind === "late" ? last.x : scale.x(times.p95);
  return to - from >= 4 ? { from, to } : null;
}

function flagOf(run: Run, times: Times, scale: Scale, isLong: boolean): number | null {
  if (times.deadline === null) return null;
  const isShown = isLong || isInDanger(run.outcome) || run.outcome === "deadline_missed";
  const x = scale.x(times.deadline);
  return isShown && x > 0 && x < scale.width ? x : null;
}

function labelOf(text: string | null, run: Run, from: number, to: number, scale: Scale): RunLayout["label"] {
  if (!text) return null;
  const width = text.length * CHARACTER + 8;
  const hue = run.outcome === "succeeded" ? "ok" : hueOf(run.outcome);
  if (to + width <= scale.width) return { x: to + 6, anchor: "start", text, hue };
  return from - width >= 0 ? { x: from - 6, anchor: "end", text, hue } : null;
}

function labelText({ outcome, entry }: Run, times: Times, isLong: boolean): string | null {
  const chance = entry.deadline?.probability;
  const percent = chance == null ? "" : `, ${Math.round(chance * 100)}%`;
  if (outcome === "at_risk") return `At risk${percent}`;
  if (outcome === "will_miss") return `Will miss${percent}`;
  if (outcome === "deadline_missed") return "Deadline missed";
  if (!isLong || outcome !== "succeeded" || times.deadline === null || times.ended === null) return null;
  const spare = times.deadline - times.ended;
  return spare > 0 ? `Met, ${coarse(spare / 1000)} to spare` : null;
}
