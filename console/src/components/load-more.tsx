/** The button below a list that has further pages. */

import type { FurtherPages } from "../state/list";

export function LoadMore({ of: { hasMore, isLoading, loadMore } }: { of: FurtherPages<unknown> }) {
  if (!hasMore) return null;
  return (
    <p class="more">
      <button type="button" class="button" disabled={isLoading} onClick={loadMore}>
        {isLoading ? "Loading…" : "Load more"}
      </button>
    </p>
  );
}
