/** Ids in texts of the API, for readers. */

import { dueOf, when } from "./time";

const EXECUTION_ID = /\b\d{8}T\d{9}Z-[0-9a-z]{26}(?:-[0-9a-z]+)*/g;

/** The text with the due instant of each execution in place of its id: `waits for orders: due 18:20`. */
export function withoutIds(text: string): string {
  return text.replace(EXECUTION_ID, (id) => {
    const due = dueOf(id);
    return due ? `due ${when(due)}` : id;
  });
}
