import { sentence } from "../format/text";

/** Why something is in danger, and what to do. */
export function Advice({ cause, remedy }: { cause?: string | null | undefined; remedy?: string | null | undefined }) {
  if (!cause && !remedy) return null;
  return (
    <dl class="advice">
      {cause && (
        <>
          <dt>Cause</dt>
          <dd>{sentence(cause)}</dd>
        </>
      )}
      {remedy && (
        <>
          <dt>What helps</dt>
          <dd>{sentence(remedy)}</dd>
        </>
      )}
    </dl>
  );
}
