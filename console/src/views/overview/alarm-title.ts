/** `Backlog drain time` for the alarm `Punctual-BacklogDrainTime`. */
export function alarmTitle(name: string): string {
  const last = name.split("-").at(-1) ?? name;
  const parts = last.match(/[A-Z]?[a-z]+|[A-Z0-9]+/g) ?? [name];
  return parts.map((part, position) => (position === 0 ? part : part.toLowerCase())).join(" ");
}
