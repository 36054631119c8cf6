/** The only module that calls the API: tokens, entity tags, retries, and the age of what is shown. */

import { BASE } from "../router";
import { accessToken, renew, signIn } from "./auth";
import { isAway, Problem, problemOf } from "./problem";
import { acceptsKey, isRead, persistently } from "./retry";

/** The address of the API: the console is served below it. */
export const API = new URL("../", BASE);
/** API Gateway answers within 30 seconds. */
const ANSWER_MS = 35_000;

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

/** The keys of requests whose outcome is unknown: the same request, sent again by the user, has one effect. */
const unanswered = new Map<string, string>();

/** Change something, or ask for a dry run. Raises `Problem`. */
export async function send<T>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Sent<T>> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const all = { ...headers };
  if (text !== undefined) all["Content-Type"] = "application/json";
  const identity = `${method} ${path} ${text}`;
  if (acceptsKey(method, path) && !isRead(method, path)) {
    all["Idempotency-Key"] ??= unanswered.get(identity) ?? crypto.randomUUID();
    unanswered.set(identity, all["Idempotency-Key"]);
  }
  const response = await request(method, path, all, text);
  if (!isAway(response.status)) unanswered.delete(identity);
  if (!response.ok) throw await problemOf(response);
  return { status: response.status, data: (await response.json()) as T };
}

/** Reads and requests with an idempotency key are repeated. Raises `Problem` if there is no answer. */
async function request(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Response> {
  const once = () => authorized(path, { method, headers, cache: "no-store", ...(body === undefined ? {} : { body }) });
  const response = await (isRead(method, path) || "Idempotency-Key" in headers ? persistently(once) : once());
  if (response === null) throw new Problem(0, "The API does not answer.");
  return response;
}

/** Send with the user's token, which is renewed if the API refuses it. Null if there is no answer. */
async function authorized(path: string, init: RequestInit): Promise<Response | null> {
  const once = async () => {
    const headers = { ...init.headers, Authorization: `Bearer ${await accessToken()}` };
    const signal = AbortSignal.timeout(ANSWER_MS);
    return fetch(new URL(path.replace(/^\//, ""), API), { ...init, headers, signal }).catch(() => null);
  };
  const response = await once();
  if (response?.status !== 401) return response;
  if (await renew()) return once();
  await signIn();
  throw new Problem(401, "Signed out.");
}
