/** The whole log of an execution as a file of JSON lines. */

import { read } from "../../api/client";
import type { LogLine, Logs } from "../../api/types";
import { complain } from "../../components/toasts";
import { withMore } from "./log";

export async function downloadLog(id: string): Promise<void> {
  const lines: LogLine[] = [];
  try {
    let after: string | null = null;
    for (;;) {
      const { data }: { data: Logs } = await read<Logs>(withMore(`/executions/${id}/logs`, after ? { after } : {}));
      lines.push(...data.items);
      if (!data.items.length || !data.after || data.after === after) break;
      after = data.after;
    }
  } catch (error) {
    complain(error);
    return;
  }
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  link.download = `${id}.log.jsonl`;
  link.click();
  URL.revokeObjectURL(link.href);
}
