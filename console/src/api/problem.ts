/** An answer of the API that is an error, or no answer at all. */

export interface FieldProblem {
  field: string;
  message: string;
}

export class Problem extends Error {
  constructor(
    /** 0 if the API did not answer. */
    readonly status: number,
    message: string,
    readonly fields: FieldProblem[] = [],
    readonly at = new Date(),
  ) {
    super(message);
  }

  get isAway(): boolean {
    return this.status === 0 || this.status >= 500 || this.status === 429;
  }
}

/** Read a problem document (RFC 9457). */
export async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = await response.json();
    return new Problem(response.status, body.detail ?? body.message ?? response.statusText, body.errors ?? []);
  } catch {
    return new Problem(response.status, response.statusText || `The API answered ${response.status}`);
  }
}
