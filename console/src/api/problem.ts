/** An answer of the API that is an error, or no answer at all. */

export interface FieldProblem {
  field: string;
  message: string;
}

/** A view asks an API that is away again after this time, or later if the API says so. */
const RETRY_MS = 5_000;

export class Problem extends Error {
  constructor(
    /** 0 if the API did not answer. */
    readonly status: number,
    message: string,
    readonly fields: FieldProblem[] = [],
    readonly at = new Date(),
    private readonly retryAfterMs = 0,
  ) {
    super(message);
  }

  get isAway(): boolean {
    return this.status === 0 || isAway(this.status);
  }

  /** When to ask again, or null if the answer would be the same. */
  get retryMs(): number | null {
    return this.isAway ? Math.max(RETRY_MS, this.retryAfterMs) : null;
  }
}

/** Whether a later request may succeed. */
export function isAway(status: number): boolean {
  return status >= 500 || status === 429;
}

/** Read a problem document (RFC 9457). */
export async function problemOf(response: Response): Promise<Problem> {
  const { status, statusText } = response;
  const body = await response.json().catch(() => ({}));
  const message = body.detail ?? body.message ?? (statusText || `The API answered ${status}`);
  const errors: { field: string | null; message: string }[] = body.errors ?? [];
  const fields = errors.flatMap(({ field, message }) => (field === null ? [] : [{ field, message }]));
  return new Problem(status, message, fields, new Date(), retryAfterMs(response) ?? 0);
}

/** Convert a thrown value to a problem. */
export function problemIn(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, error instanceof Error ? error.message : String(error));
}

/** The pause that the answer asks for: `Retry-After` is a number of seconds or a date. */
export function retryAfterMs(response: Response): number | null {
  const text = response.headers.get("Retry-After");
  if (!text) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
