/** What the job would do, while it is typed: next instants, dry run, JSON, curl. */

import { useEffect, useState } from "preact/hooks";
import { API, send } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Changes, Instant } from "../../api/types";
import { ChangesView, dryRunPath } from "../../components/dry-run";
import { CopyableText, Json } from "../../components/json";
import { tryingAgain } from "../../components/states";
import { ask } from "../../state/watch";
import { InstantList, zoneNames } from "../job/next";
import { curlOf, type Draft, isStarted } from "./draft";

const TYPING_MS = 300;

export interface Checked {
  changes: Changes | Problem | null;
  /** The next due instants, or why they are unknown. */
  instants: Instant[] | Problem;
}

/** Ask the API what it thinks of the draft, once the user pauses typing. */
export function useCheck(method: string, path: string, body: Draft, schedule: unknown): Checked {
  const [checked, setChecked] = useState<Checked>({ changes: null, instants: [] });
  const text = JSON.stringify(body);
  const wanted = JSON.stringify(schedule ?? null);
  useEffect(() => {
    const draft = JSON.parse(text) as Draft;
    if (!isStarted(draft) && method === "POST") {
      setChecked({ changes: null, instants: [] });
      return undefined;
    }
    const stops: (() => void)[] = [];
    const timer = setTimeout(() => {
      const dryRun = async () => (await send<Changes>(method, dryRunPath(path), draft)).data;
      stops.push(
        ask(dryRun, (changes) => setChecked((before) => ({ ...before, changes }))),
        ask(
          () => upcoming(JSON.parse(wanted)),
          (instants) => setChecked((before) => ({ ...before, instants })),
        ),
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [method, path, text, wanted]);
  return checked;
}

async function upcoming(schedule: unknown): Promise<Instant[]> {
  if (!schedule || (schedule as Record<string, unknown>).queue) return [];
  return (await send<{ items: Instant[] }>("POST", "/schedules/preview", { schedule, count: 10 })).data.items;
}

export function RequestText({ method, path, body }: { method: string; path: string; body: Draft }) {
  const url = new URL(path.slice(1), API).href;
  return (
    <>
      <section class="card">
        <header>
          <h2>JSON</h2>
        </header>
        <div class="body">
          <Json value={body} />
        </div>
      </section>
      <section class="card">
        <header>
          <h2>curl</h2>
        </header>
        <div class="body">
          <CopyableText text={curlOf(method, url, body)} label="Command" />
        </div>
      </section>
    </>
  );
}

export function DryRunCard({ changes }: { changes: Changes | Problem | null }) {
  return (
    <section class="card">
      <header>
        <h2>Dry run</h2>
      </header>
      <div class="body">
        <ChangesView changes={changes} />
      </div>
    </section>
  );
}

/** Nothing for a job without due instants. */
export function NextCard({ instants, schedule }: { instants: Checked["instants"]; schedule: unknown }) {
  const timezone = String((schedule as Record<string, unknown> | undefined)?.timezone ?? "UTC");
  if (!(instants instanceof Problem) && instants.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>Next ten</h2>
        {!(instants instanceof Problem) && <span class="note aside">{zoneNames(timezone)}</span>}
      </header>
      {instants instanceof Problem ? (
        <p class="body error" role="alert">
          Unknown: {instants.message} {tryingAgain(instants)}
        </p>
      ) : (
        <InstantList items={instants} timezone={timezone} />
      )}
    </section>
  );
}
