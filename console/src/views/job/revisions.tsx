/** Who changed which fields of a job, and when. A former revision is restored by an edit, which shows its dry run first. */

import { send } from "../../api/client";
import type { JobDetail } from "../../api/types";
import { closeDialog, Dialog } from "../../components/dialog";
import { DryRun } from "../../components/dry-run";
import { Link } from "../../components/link";
import { Loaded } from "../../components/states";
import { Time } from "../../components/time";
import { say } from "../../components/toasts";
import { place, withQuery } from "../../router";
import { useList } from "../../state/list";
import { mayManage } from "../../state/me";
import { zoneOf } from "../jobs/view";
import { fieldsBefore, type Revision } from "./restore";

export function Revisions({ job }: { job: JobDetail }) {
  const list = useList<Revision>(`/jobs/${job.job_id}/revisions?limit=50`, (one) => String(one.revision));
  const restored = Number(place.value.query.get("restore"));
  const mayRestore = mayManage(job.owner) && (job.state === "active" || job.state === "paused");
  return (
    <Loaded what="Revisions" of={list}>
      {() => (
        <>
          <ol class="revisions body padded">
            {list.items.map((one) => (
              <li key={one.revision}>
                <p class="facts">
                  <b>Revision {one.revision}</b>
                  <span>{one.by}</span>
                  <Time at={one.at} jobZone={zoneOf(job)} />
                  {mayRestore && one.changes.length > 0 && fieldsBefore(list.items, one.revision) && (
                    <Link to={withQuery({ restore: String(one.revision) })} class="underlined">
                      Restore revision {one.revision - 1}…
                    </Link>
                  )}
                </p>
                <Changes revision={one} />
              </li>
            ))}
          </ol>
          {list.hasMore && (
            <p class="more">
              <button type="button" class="button" disabled={list.isLoading} onClick={list.loadMore}>
                Load more
              </button>
            </p>
          )}
          {restored > 1 && <Restore job={job} revisions={list.items} revision={restored} reload={list.reload} />}
        </>
      )}
    </Loaded>
  );
}

function Changes({ revision }: { revision: Revision }) {
  if (revision.changes.length === 0) return <p class="dim">The submission</p>;
  return (
    <dl class="details">
      {revision.changes.map((change) => (
        <>
          <dt key={change.field}>{change.field}</dt>
          <dd class="mono">
            <del>{text(change.old)}</del> → <ins>{text(change.new)}</ins>
          </dd>
        </>
      ))}
    </dl>
  );
}

interface RestoreProps {
  job: JobDetail;
  revisions: Revision[];
  revision: number;
  reload: () => void;
}

function Restore({ job, revisions, revision, reload }: RestoreProps) {
  const fields = fieldsBefore(revisions, revision);
  if (!fields) return null;
  const path = `/jobs/${job.job_id}`;
  const confirm = async () => {
    await send("PATCH", path, fields, { "If-Match": String(job.revision) });
    closeDialog();
    reload();
    say(`Restored revision ${revision - 1} as revision ${job.revision + 1}`);
  };
  return (
    <Dialog title={`Restore revision ${revision - 1}?`} verb={`Restore revision ${revision - 1}`} onConfirm={confirm}>
      <p>It becomes the next revision, and changes {Object.keys(fields).join(", ")}.</p>
      <DryRun method="PATCH" path={path} body={fields} />
    </Dialog>
  );
}

function text(value: unknown): string {
  if (value === null || value === undefined) return "default";
  return typeof value === "string" ? value : JSON.stringify(value);
}
