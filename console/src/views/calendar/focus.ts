/** Which mark of the grid an arrow moves the focus to. */

/** Move the focus. Returns false if the key moves nothing. */
export function moveFocus(key: string, mark: Element, body: HTMLElement): boolean {
  const rows = [...body.querySelectorAll('[role="row"]')].map((row) => [...row.querySelectorAll("[data-key]")]);
  const filled = rows.filter((marks) => marks.length > 0);
  const at = filled.findIndex((marks) => marks.includes(mark));
  const row = filled[at] ?? [];
  const next =
    key === "ArrowLeft"
      ? row[row.indexOf(mark) - 1]
      : key === "ArrowRight"
        ? row[row.indexOf(mark) + 1]
        : key === "Home"
          ? row[0]
          : key === "End"
            ? row.at(-1)
            : key === "ArrowUp"
              ? nearest(mark, filled[at - 1])
              : key === "ArrowDown"
                ? nearest(mark, filled[at + 1])
                : null;
  if (next === null) return false;
  (next as SVGElement | undefined)?.focus();
  return true;
}

function nearest(mark: Element, marks: Element[] | undefined): Element | undefined {
  const middle = middleOf(mark);
  return marks?.reduce((best, one) =>
    Math.abs(middleOf(one) - middle) < Math.abs(middleOf(best) - middle) ? one : best,
  );
}

function middleOf(mark: Element): number {
  const { left, width } = mark.getBoundingClientRect();
  return left + width / 2;
}
