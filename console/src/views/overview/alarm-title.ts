/** `Backlog drain time` for the alarm `Punctual-prod-BacklogDrainTime`; `Throttled: worker` for `…-Throttled-worker`. */
export function alarmTitle(name: string): string {
  const [, kind = name, detail] = name.match(/-([A-Z]\w*)(?:-(\w+))?$/) ?? [];
  const words = kind.match(/[A-Z]?[a-z]+|[A-Z0-9]+/g) ?? [kind];
  const title = words.map((word, position) => (position === 0 ? word : word.toLowerCase())).join(" ");
  return detail ? `${title}: ${detail}` : title;
}
