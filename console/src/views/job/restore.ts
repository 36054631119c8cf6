/** Which fields an edit sets to restore a former revision. */

import type { components } from "../../api/schema";

export type Revision = components["schemas"]["Revision"];

/**
 * The fields that bring back the state before `revision`, from the revisions newest first: each has the old value of its
 * earliest change since. Null if one of them had a secret, which no revision keeps.
 */
export function fieldsBefore(revisions: Revision[], revision: number): Record<string, unknown> | null {
  const fields: Record<string, unknown> = {};
  for (const one of revisions) {
    if (one.revision < revision) break;
    for (const change of one.changes) {
      if (!change.restorable) return null;
      fields[change.field] = change.old;
    }
  }
  return fields;
}
