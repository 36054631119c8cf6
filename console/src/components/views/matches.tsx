/** How many items match the filters of a list, if the API can count them. */

import { count } from "../../format/duration";
import type { Total } from "../../state/list";

export function Matches({ total }: { total: Total | null }) {
  if (total === null) return null;
  return (
    <span class="matches" role="status">
      {total.isExact ? count(total.value) : `More than ${count(total.value)}`} {total.value === 1 ? "matches" : "match"}
    </span>
  );
}
