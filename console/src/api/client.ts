/** The only module that calls the API: tokens, entity tags, retries, and the age of what is shown. */

import { BASE } from "../router";
import { accessToken, renew, signIn } from "./auth";
import { Problem, problemOf } from "./problem";

/** The address of the API: the console is served below it. */
export const API = new URL("../", BASE);
const TRIES = 2;

export interface Answer<T> {
  data: T;
  etag: string | null;
  /** When the API confirmed the data. */
  at: Date;
}

const known = new Map<string, Answer<unknown>>();
const MOST_KNOWN = 200;

/** The last answer to a GET of this address, if there is one. */
export function remembered<T>(path: string): Answer<T> | undefined {
  return known.get(path) as Answer<T> | undefined;
}

/** Read `path`. An unchanged answer (304) is confirmed without its body. Raises `Problem`. */
export async function read<T>(path: string): Promise<Answer<T>> {
  const before = remembered<T>(path);
  const headers: Record<string, string> = before?.etag ? { "If-None-Match": before.etag } : {};
  const response = await request("GET", path, headers);
  if (response.status === 304 && before) return remember(path, { ...before, at: new Date() });
  if (!response.ok) throw await problemOf(response);
  return remember(path, { data: (await response.json()) as T, etag: response.headers.get("ETag"), at: new Date() });
}

function remember<T>(path: string, answer: Answer<T>): Answer<T> {
  known.delete(path); // the most recently read addresses stay last
  known.set(path, answer);
  const oldest = known.keys().next().value;
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  return answer;
}

export interface Sent<T> {
  status: number;
  data: T;
}

/** Change something. With an idempotency key, a repeated request has one effect. Raises `Problem`. */
export async function send<T>(
  method: string,
  path: string,
  body?: unknown,
  headers: HeadersInit = {},
): Promise<Sent<T>> {
  const all: Record<string, string> = { ...Object.fromEntries(new Headers(headers)) };
  if (method === "POST") all["Idempotency-Key"] ??= crypto.randomUUID();
  if (body !== undefined) all["Content-Type"] = "application/json";
  const response = await request(method, path, all, body === undefined ? undefined : JSON.stringify(body));
  if (!response.ok) throw await problemOf(response);
  return { status: response.status, data: (await response.json()) as T };
}

async function request(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const token = await accessToken();
    const sent: RequestInit = { method, headers: { ...headers, Authorization: `Bearer ${token}` }, cache: "no-store" };
    const response = await fetch(
      new URL(path.replace(/^\//, ""), API),
      body === undefined ? sent : { ...sent, body },
    ).catch(() => null);
    if (response === null) throw new Problem(0, "The API does not answer.");
    if (response.status !== 401 || attempt === TRIES) return response;
    if (!(await renew())) {
      await signIn();
      throw new Problem(401, "Signed out.");
    }
  }
}
