/** The long lane: who holds slots and could wait, who waits in which order, and the slots of the next seven days. */

import type { LaneView as Lane } from "../../api/types";
import { Loaded } from "../../components/states";
import { coarse, plural } from "../../format/duration";
import { now } from "../../state/clock";
import { useResource } from "../../state/resource";
import { useTitle } from "../../state/title";
import { holdersOf, nextSlotAt } from "./holders";
import { Holding } from "./holding";
import { Hours } from "./hours";
import { MakeRoom } from "./make-room";
import { Waiting } from "./waiting";

export function LaneView() {
  useTitle("Long lane");
  const lane = useResource<Lane>("/lane");
  return (
    <Loaded what="Long lane" of={lane}>
      {(data) => {
        const holders = holdersOf(data.holding);
        return (
          <div class="stack">
            <header>
              <h1>
                {data.slots.taken_tasks} of {data.slots.tasks} slots, {data.slots.taken_vcpus} of {data.slots.vcpus}{" "}
                vCPU
              </h1>
              <p class="dim">{waitsInWords(data)}</p>
            </header>
            <Holding holders={holders} />
            <Waiting parts={data.waiting} total={data.slots.waiting_tasks} />
            <Hours lane={data} />
            <MakeRoom holders={holders} waiting={data.waiting} reload={lane.reload} />
          </div>
        );
      }}
    </Loaded>
  );
}

function waitsInWords(lane: Lane): string {
  const { slots } = lane;
  const isFull = slots.taken_tasks >= slots.tasks || slots.taken_vcpus >= slots.vcpus;
  const next = nextSlotAt(lane.holding, isFull);
  const waits =
    slots.waiting_tasks === 0
      ? "No part waits."
      : `${plural(slots.waiting_tasks, "part")} ${slots.waiting_tasks === 1 ? "waits" : "wait"}.`;
  if (!next) return `${waits} ${plural(Math.max(0, slots.tasks - slots.taken_tasks), "slot")} free.`;
  const seconds = (Date.parse(next) - now.value.getTime()) / 1000;
  return `${waits} Next slot ${seconds > 0 ? `in about ${coarse(seconds)}` : "any moment"}.`;
}
