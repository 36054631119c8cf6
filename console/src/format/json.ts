/** Indented JSON, with lists of plain values on one line. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/\[\n[^[\]{}]*?\]/g, (list) =>
    list.replace(/\n\s*/g, " ").replace("[ ", "[").replace(/ \]$/, "]"),
  );
}
