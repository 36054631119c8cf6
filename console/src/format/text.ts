/** Words and sentences. */

const NUMBERS = [
  ...["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"],
];

/** `Three things`, `One thing`, `14 things`: a number at the start of a sentence. */
export function inWords(value: number, one: string, many = `${one}s`): string {
  return `${NUMBERS[value] ?? value.toLocaleString("en-US")} ${value === 1 ? one : many}`;
}

/** The text with a capital letter at its start and a full stop at its end, as the API sends causes without. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed) return "";
  return capitalised(trimmed) + (/[.!?…]$/.test(trimmed) ? "" : ".");
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
