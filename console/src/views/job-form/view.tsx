/** Create, clone or edit a job. The API checks the draft while it is typed; a refusal appears at its field. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { read, send } from "../../api/client";
import { type FieldProblem, Problem } from "../../api/problem";
import type { Job } from "../../api/types";
import { Link } from "../../components/link";
import { Failed } from "../../components/states";
import { complain, say } from "../../components/toasts";
import { navigate, place } from "../../router";
import { useTitle } from "../../state/title";
import { ask } from "../../state/watch";
import { Conflict } from "./conflict";
import { bodyOf, changedFields, type Draft, draftOf, EMPTY, isStarted } from "./draft";
import { FormFields } from "./fields";
import { FormVerdict } from "./form-verdict";
import { DryRunCard, NextCard, RequestText, useCheck } from "./preview";
import { FormContext, problemWithin } from "./problems";

export function JobFormView({ id }: { id?: string }) {
  const from = id ?? place.value.query.get("from");
  const [original, setOriginal] = useState<Job | Problem | null>(null);
  useTitle(id ? "Edit job" : "New job", { text: "Jobs", to: "/jobs" });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!from) return undefined;
    return ask(async () => (await read<Job>(`/jobs/${from}`)).data, setOriginal);
  }, [from, turn]);
  if (original instanceof Problem) return <Failed what="Job" problem={original} retry={() => setTurn(turn + 1)} />;
  if (from && !original)
    return (
      <p class="state" role="status" aria-busy="true">
        Loading the job…
      </p>
    );
  return <Form original={original} isEdit={Boolean(id)} />;
}

function Form({ original, isEdit }: { original: Job | null; isEdit: boolean }) {
  const before = original ? draftOf(original) : { ...EMPTY, task: place.value.query.get("task") ?? "" };
  const initial = isEdit ? before : withoutIdentity(before);
  const [draft, setDraft] = useState<Draft>(initial);
  const [isBusy, setBusy] = useState(false);
  const [newer, setNewer] = useState<Job | null>(null);
  const method = isEdit ? "PATCH" : "POST";
  const path = isEdit ? `/jobs/${original?.job_id}` : "/jobs";
  const body = isEdit ? changedFields(before, draft) : bodyOf(draft);
  const { changes, instants } = useCheck(method, path, body, draft.schedule);
  const refusal = changes instanceof Problem ? changes : null;
  const { unreadable, report } = useReports();
  const problems = [...unreadable, ...(refusal?.fields ?? [])];
  const problemAt = (field: string) => problemWithin(problems, field);
  const isChanged = !isEdit || Object.keys(body).length > 0;
  const canSave = isStarted(draft) && isChanged && !isBusy && unreadable.length === 0;

  const submit = async (revision = original?.revision) => {
    if (!canSave) return;
    setBusy(true);
    try {
      const headers: Record<string, string> = isEdit ? { "If-Match": String(revision) } : {};
      const { data } = await send<Job>(method, path, body, headers);
      say(isEdit ? "Job saved" : "Job created");
      navigate(`/jobs/${data.job_id}`);
    } catch (error) {
      setBusy(false);
      if (isEdit && error instanceof Problem && error.status === 412) setNewer((await read<Job>(path)).data);
      else complain(error);
    }
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    submit();
  };
  const onShortcut = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) onSubmit(event);
  };
  return (
    <form class="columns job-form" onSubmit={onSubmit} onKeyDown={onShortcut}>
      <div class="stack">
        <h1>{isEdit ? `Edit ${original?.name || original?.task}` : "New job"}</h1>
        <FormContext.Provider value={{ fields: problems, report }}>
          <FormFields draft={draft} onChange={setDraft} problemAt={problemAt} isEdit={isEdit} />
        </FormContext.Provider>
        {newer && <Conflict before={before} newer={newer} mine={body} apply={() => submit(newer.revision)} />}
        <footer class="form-foot">
          <FormVerdict
            changes={changes}
            unreadable={unreadable}
            isStarted={isStarted(draft)}
            isChanged={Object.keys(body).length > 0}
          />
          <Link to={isEdit ? `/jobs/${original?.job_id}` : "/jobs"} class="button is-plain">
            Discard
          </Link>
          <button type="submit" class="button is-main" disabled={!canSave}>
            {isEdit ? "Save" : "Create job"} <kbd>⌘↵</kbd>
          </button>
        </footer>
      </div>
      <aside class="stack">
        <NextCard instants={instants} schedule={draft.schedule} />
        {isStarted(draft) && <DryRunCard changes={changes} />}
        <RequestText method={method} path={path} body={body} />
      </aside>
    </form>
  );
}

/** The fields whose texts are no values. */
function useReports() {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const report = useCallback((field: string, message: string | null) => {
    setTexts((before) => {
      if ((before[field] ?? null) === message) return before;
      const { [field]: _, ...rest } = before;
      return message === null ? rest : { ...rest, [field]: message };
    });
  }, []);
  const unreadable: FieldProblem[] = Object.entries(texts).map(([field, message]) => ({ field, message }));
  return { unreadable, report };
}

function withoutIdentity(draft: Draft): Draft {
  const { name, owner, dedupe_key, ...rest } = draft;
  return rest;
}
