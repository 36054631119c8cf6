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

function items(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}
