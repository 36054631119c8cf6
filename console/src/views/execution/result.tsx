/** What the task returned: as text, or as a download if it is large. */

import { read } from "../../api/client";
import type { Execution } from "../../api/types";
import { Icon } from "../../components/icon";
import { Json } from "../../components/json";
import { Empty } from "../../components/states";
import { complain } from "../../components/toasts";
import { FINAL } from "./final";

export function Result({ execution }: { execution: Execution }) {
  const { value, location } = execution.result;
  if (!location && (value === null || value === undefined))
    return <Empty title={FINAL.has(execution.status) ? "It returned nothing" : "No result yet"} />;
  return (
    <div class="body padded">
      {location && <p>The result is large: it is stored in S3, at {location}.</p>}
      <p class="actions">
        <button type="button" class="button" onClick={() => download(execution)}>
          <Icon name="download" /> Download
        </button>
      </p>
      {!location && <Json value={value} label="Result" />}
    </div>
  );
}

/** A large result is behind a link that is valid for minutes; a small one is already here. */
async function download(execution: Execution): Promise<void> {
  try {
    const file = execution.result.location
      ? (await read<{ location: string }>(`/executions/${execution.execution_id}/result?redirect=false`)).data.location
      : URL.createObjectURL(new Blob([JSON.stringify(execution.result.value, null, 2)], { type: "application/json" }));
    const link = document.createElement("a");
    link.href = file;
    link.download = `${execution.execution_id}.json`;
    link.click();
  } catch (error) {
    complain(error);
  }
}
