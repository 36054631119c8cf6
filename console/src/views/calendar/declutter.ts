/** Leaves out labels and marks where runs of a row overlap. */

import { CHARACTER, type RunLayout } from "./layout";
import { OUTCOMES, type Run } from "./runs";

/** Statuses and flags closer to each other than this cannot be told apart. */
const GLYPH_APART = 12;
const FLAG_APART = 10;
const LABEL_GAP = 8;
/** A label further away than this would seem to belong to another run. */
const NEAR = 40;

/**
 * Of statuses in one place, the one that most needs attention stays, and the latest of equals; of flags the last one; of
 * labels those that touch nothing. Each run keeps its mark: it takes the focus and opens.
 */
export function declutter(runs: Run[], layouts: RunLayout[], now: number | null): RunLayout[] {
  const rank = (position: number) => OUTCOMES.indexOf((runs[position] as Run).outcome);
  const glyphs = kept(
    layouts.map((one) => one.glyph?.x ?? null),
    GLYPH_APART,
    (one, other) => rank(one) - rank(other) || other - one,
  );
  const flags = kept(
    layouts.map((one) => one.flag),
    FLAG_APART,
    (one, other) => other - one,
  );
  const thinned = layouts.map((layout, position) => ({
    ...layout,
    glyph: glyphs.has(position) ? layout.glyph : null,
    flag: flags.has(position) ? layout.flag : null,
  }));
  return keepLabels(thinned, now);
}

/** The positions that stay, so that no two are closer than `apart`. */
function kept(places: (number | null)[], apart: number, order: (one: number, other: number) => number): Set<number> {
  const positions = places.flatMap((place, position) => (place === null ? [] : [position])).sort(order);
  const chosen: number[] = [];
  for (const position of positions) {
    const isFree = chosen.every((other) => Math.abs((places[other] ?? 0) - (places[position] ?? 0)) >= apart);
    if (isFree) chosen.push(position);
  }
  return new Set(chosen);
}

/** The labels that touch neither another run, nor another label. */
function keepLabels(layouts: RunLayout[], now: number | null): RunLayout[] {
  const taken: { from: number; to: number }[] = [];
  const found = [...layouts];
  for (let position = layouts.length - 1; position >= 0; position--) {
    const layout = layouts[position] as RunLayout;
    if (!layout.label) continue;
    const label = clearOf(now, { ...layout, label: layout.label });
    const [from, to] = extentOf(label);
    const hitsRun = layouts.some((other, index) => index !== position && other.from < to && other.to > from);
    const hitsLabel = taken.some((other) => other.from < to && other.to > from);
    found[position] = { ...layout, label: hitsRun || hitsLabel ? null : label };
    if (!hitsRun && !hitsLabel) taken.push({ from, to });
  }
  return found;
}

type Label = NonNullable<RunLayout["label"]>;

function extentOf({ text, x, anchor }: Label): [number, number] {
  const width = text.length * CHARACTER;
  return anchor === "start" ? [x, x + width] : [x - width, x];
}

/** A label that the current time crosses moves behind it if that is near, and else before its run. */
function clearOf(now: number | null, { label, from: start }: RunLayout & { label: Label }): Label {
  const [from, to] = extentOf(label);
  if (now === null || label.anchor === "end" || from >= now || to <= now) return label;
  if (now - from <= NEAR) return { ...label, x: now + LABEL_GAP };
  return { ...label, anchor: "end", x: start - LABEL_GAP };
}
