/** Sign-in: Cognito's hosted page with an authorization code and PKCE. Tokens are kept in memory only. */

import { signal } from "@preact/signals";
import { address, BASE, navigate, pathBelow } from "../router";
import { Problem, problemOf } from "./problem";
import { persistently } from "./retry";

interface Config {
  issuer: string;
  client_id: string;
  sign_in_url: string;
  stage: string;
}

interface Tokens {
  access_token: string;
  refresh_token?: string;
  expires_in: number;
}

interface Pending {
  verifier: string;
  state: string;
  target: string;
}

export const config = signal<Config | null>(null);
const PENDING = "punctual-sign-in";
/** Tokens are renewed this long before they expire. */
const MARGIN_MS = 60_000;

let tokens: Tokens | null = null;
let expiresAt = 0;
let renewing: Promise<boolean> | null = null;
/** A read that fails while the browser leaves for the page of sign-out must not lead to that of sign-in. */
let isLeaving = false;
addEventListener("pageshow", () => {
  isLeaving = false; // the user came back
});

export function isSignedIn(): boolean {
  return tokens !== null;
}

/** Complete a sign-in that returned here, or start one. Resolves to whether the user is signed in. Raises `Problem`. */
export async function start(): Promise<boolean> {
  const found = await configured();
  config.value = { ...found, sign_in_url: found.sign_in_url || location.origin };
  const query = new URLSearchParams(location.search);
  const pending = takePending();
  if (!pending || pending.state !== query.get("state")) {
    await signIn();
    return false;
  }
  navigate(pending.target, { replace: true }); // a second try starts from the target, without the used code
  const code = query.get("code");
  if (!code) throw new Problem(403, `Sign-in was refused: ${query.get("error_description") ?? query.get("error")}`);
  const redirect = { redirect_uri: callback(), code_verifier: pending.verifier };
  if (await granted({ grant_type: "authorization_code", code, ...redirect })) return true;
  throw new Problem(403, "The sign-in page refused its own code.");
}

async function configured(): Promise<Config> {
  const response = await persistently(() => fetch(new URL("../config", BASE)).catch(() => null));
  if (response === null) throw new Problem(0, "The API does not answer.");
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

/** Leave for the hosted sign-in page. The user returns to the current view. */
export async function signIn(): Promise<void> {
  if (!config.value || isLeaving) return;
  isLeaving = true;
  const verifier = randomText(48);
  const state = randomText(16);
  sessionStorage.setItem(PENDING, JSON.stringify({ verifier, state, target: here() } satisfies Pending));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const query = new URLSearchParams({
    response_type: "code",
    client_id: config.value.client_id,
    redirect_uri: callback(),
    scope: "openid profile",
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  });
  location.assign(`${config.value.sign_in_url}/oauth2/authorize?${query}`);
}

export function signOut(): void {
  tokens = null;
  expiresAt = 0;
  isLeaving = true;
  const query = new URLSearchParams({ client_id: config.value?.client_id ?? "", logout_uri: callback() });
  location.assign(`${config.value?.sign_in_url}/logout?${query}`);
}

/** A token that is valid for at least some seconds. Without one, the browser leaves for the sign-in page. */
export async function accessToken(): Promise<string> {
  if (Date.now() > expiresAt - MARGIN_MS && !(await renew())) {
    await signIn();
    throw new Problem(401, "Signed out.");
  }
  return tokens?.access_token ?? "";
}

/** Renew the tokens. Concurrent callers share one request. Raises `Problem` if the sign-in page is away. */
export function renew(): Promise<boolean> {
  renewing ??= refresh().finally(() => {
    renewing = null;
  });
  return renewing;
}

async function refresh(): Promise<boolean> {
  if (!tokens?.refresh_token) return false;
  return granted({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
}

/** Ask for tokens. False if the grant is refused; an error if there is no answer: the user stays signed in. */
async function granted(fields: Record<string, string>): Promise<boolean> {
  const body = new URLSearchParams({ client_id: config.value?.client_id ?? "", ...fields });
  const response = await fetch(`${config.value?.sign_in_url}/oauth2/token`, { method: "POST", body }).catch(() => null);
  if (response === null) throw new Problem(0, "The sign-in page does not answer.");
  const problem = new Problem(response.status, `The sign-in page answered ${response.status}.`);
  if (problem.isAway) throw problem;
  if (!response.ok) return false;
  const received = (await response.json()) as Tokens;
  tokens = { ...tokens, ...received };
  expiresAt = Date.now() + received.expires_in * 1000;
  return true;
}

function callback(): string {
  return new URL(address("/"), location.origin).href;
}

function takePending(): Pending | null {
  const text = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  return text ? (JSON.parse(text) as Pending) : null;
}

/** The address of the view, without the answer of the sign-in page. */
function here(): string {
  return `${pathBelow(location.pathname)}${withoutCode(location.search)}`;
}

/** A list of jobs has a parameter `state` of its own: it belongs to the sign-in page only beside a code. */
function withoutCode(search: string): string {
  const query = new URLSearchParams(search);
  if (query.has("code")) {
    query.delete("code");
    query.delete("state");
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}

function randomText(bytes: number): string {
  return base64url(crypto.getRandomValues(new Uint8Array(bytes)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
}
