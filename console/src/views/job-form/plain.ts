/** Structured fields of a job as the text of one input. */

/** `dataset:orders, country:nl` for tags. */
export function tagsText(tags: unknown): string {
  return Object.entries((tags ?? {}) as Record<string, string>)
    .map(([key, value]) => `${key}:${value}`)
    .join(", ");
}

/** The tags of the text. A tag without a value has an empty one, which the API refuses at its field. */
export function tagsOf(text: string): Record<string, string> | null {
  const tags = items(text).map((one) => {
    const [key = "", ...rest] = one.split(":");
    return [key.trim(), rest.join(":").trim()] as const;
  });
  return tags.length ? Object.fromEntries(tags) : null;
}

type Destination = string | { email: string } | { sns: string };

/** `notice, ops@example.com`, or null if a destination (a webhook) has no short form. */
export function notifyText(notify: unknown): string | null {
  const { to } = (notify ?? {}) as { to?: unknown };
  if (to === undefined || to === null) return "";
  const texts = (Array.isArray(to) ? to : [to]).map((one) => {
    if (typeof one === "string") return one;
    return (one as { email?: string }).email ?? (one as { sns?: string }).sns ?? null;
  });
  return texts.includes(null) ? null : texts.join(", ");
}

/** `notify` with the destinations of the text, and the events that it had. */
export function notifyOf(text: string, before: unknown): Record<string, unknown> | null {
  const { to: _, ...rest } = (before ?? {}) as Record<string, unknown>;
  const to = items(text).map(destination);
  const next = to.length ? { ...rest, to: to.length === 1 ? to[0] : to } : rest;
  return Object.keys(next).length ? next : null;
}

function destination(text: string): Destination {
  if (text.startsWith("arn:")) return { sns: text };
  return text.includes("@") ? { email: text } : text;
}

function items(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}

/** A limit of `backlog` with another value; null if none is left. */
export function withLimit(backlog: unknown, name: "messages" | "minutes", text: string): object | null {
  const { [name]: _, ...rest } = (backlog ?? {}) as Record<string, unknown>;
  const next = text === "" ? rest : { ...rest, [name]: Number(text) };
  return Object.keys(next).length ? next : null;
}

/** The id of the input at which a refusal of the API is shown. */
export function inputOf(field: string): string {
  if (field.startsWith("parameters.")) return `parameter-${field.slice("parameters.".length)}`;
  if (field.startsWith("schedule.skip")) return "schedule.skip";
  if (field.startsWith("deadline.by")) return "deadline.by";
  const [first = ""] = field.split(".");
  return ["deadline", "tags", "notify"].includes(first) ? first : field;
}
