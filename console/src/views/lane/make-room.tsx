/** Ask an execution to release its slots, after a dry run that says who gets them. */

import { send } from "../../api/client";
import { Problem } from "../../api/problem";
import type { LanePart, YieldForecast } from "../../api/types";
import { closeDialog, Dialog } from "../../components/dialog";
import { dryRunPath, NoDryRun } from "../../components/dry-run";
import { say } from "../../components/toasts";
import { coarse, plural } from "../../format/duration";
import { place } from "../../router";
import { useAnswer } from "../../state/resource";
import { type Holder, partName } from "./holders";

interface Props {
  holders: Holder[];
  waiting: LanePart[];
  reload: () => void;
}

export function MakeRoom({ holders, waiting, reload }: Props) {
  const holder = holders.find((one) => one.executionId === place.value.query.get("do"));
  if (!holder) return null;
  return <Question key={holder.executionId} holder={holder} waiting={waiting} reload={reload} />;
}

function Question({ holder, waiting, reload }: { holder: Holder; waiting: LanePart[]; reload: () => void }) {
  const path = `/executions/${holder.executionId}/yield`;
  const forecast = useAnswer<YieldForecast>("POST", dryRunPath(path));
  const confirm = async () => {
    await send("POST", path);
    closeDialog();
    reload();
    say(`${holder.name} releases its slots at the next checkpoint`);
  };
  const { laxitySeconds: laxity } = holder;
  return (
    <Dialog title={`Make room: ${holder.name}?`} verb="Release its slots" onConfirm={confirm}>
      <p>
        It stops at its next checkpoint, waits for a slot again, and continues from the checkpoint. Nothing that is done
        is lost.{" "}
        {laxity > 0 ? `It can wait ${coarse(laxity)} and still meet its deadline.` : "It then misses its deadline."}
      </p>
      {forecast === null || forecast instanceof Problem ? (
        <NoDryRun problem={forecast} />
      ) : (
        <p class="well" role="status">
          Dry run, just now: {yieldWords(forecast, waiting)}
        </p>
      )}
    </Dialog>
  );
}

/** Who releases slots, and who gets them. */
export function yieldWords(forecast: YieldForecast, waiting: LanePart[]): string {
  const stops = `${plural(forecast.releases.length, "part")} ${forecast.releases.length === 1 ? "stops" : "stop"}.`;
  if (forecast.grants.length === 0) return `${stops} No other part waits: the execution would get the slots again.`;
  const names = forecast.grants.map((one) => {
    const part = waiting.find((other) => other.execution_id === one.execution_id && other.part === one.part);
    return part ? partName(part) : one.execution_id;
  });
  return `${stops} The slots go to ${names.join("; ")}.`;
}
