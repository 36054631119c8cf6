/** Sign-in: Cognito's hosted page with an authorization code and PKCE. Tokens are kept in memory only. */

import { signal } from "@preact/signals";
import { address, BASE, navigate, pathBelow } from "../router";
import { Problem } from "./problem";

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

/** Complete a sign-in that returned here, or start one. Resolves to whether the user is signed in. */
export async function start(): Promise<boolean> {
  const found: Config = await (await fetch(new URL("../config", BASE))).json();
  config.value = { ...found, sign_in_url: found.sign_in_url || location.origin };
  const query = new URLSearchParams(location.search);
  const pending = takePending();
  const code = query.get("code");
  if (code && pending && pending.state === query.get("state")) {
    await exchange({
      grant_type: "authorization_code",
      code,
      redirect_uri: callback(),
      code_verifier: pending.verifier,
    });
    navigate(pending.target, { replace: true });
    return true;
  }
  await signIn();
  return false;
}

/** Leave for the hosted sign-in page. The user returns to the current view. */
export async function signIn(): Promise<void> {
  if (!config.value) return;
  const verifier = randomText(48);
  const state = randomText(16);
  const target = `${pathBelow(location.pathname)}${withoutCode(location.search)}`;
  sessionStorage.setItem(PENDING, JSON.stringify({ verifier, state, target } satisfies Pending));
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
  const query = new URLSearchParams({ client_id: config.value?.client_id ?? "", logout_uri: callback() });
  location.assign(`${config.value?.sign_in_url}/logout?${query}`);
}

/** A token that is valid for at least some seconds. */
export async function accessToken(): Promise<string> {
  if (Date.now() > expiresAt - MARGIN_MS && !(await renew())) await signIn();
  return tokens?.access_token ?? "";
}

/** Renew the tokens. Concurrent callers share one request. */
export function renew(): Promise<boolean> {
  renewing ??= refresh().finally(() => {
    renewing = null;
  });
  return renewing;
}

async function refresh(): Promise<boolean> {
  if (!tokens?.refresh_token) return false;
  try {
    await exchange({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.isAway) throw error; // it may answer soon: the user stays signed in
    return false;
  }
}

async function exchange(fields: Record<string, string>): Promise<void> {
  const body = new URLSearchParams({ client_id: config.value?.client_id ?? "", ...fields });
  const response = await fetch(`${config.value?.sign_in_url}/oauth2/token`, { method: "POST", body }).catch(() => {
    throw new Problem(0, "The sign-in page does not answer.");
  });
  if (!response.ok) throw new Problem(response.status, `The sign-in page answered ${response.status}.`);
  const received = (await response.json()) as Tokens;
  tokens = { ...tokens, ...received };
  expiresAt = Date.now() + received.expires_in * 1000;
}

function callback(): string {
  return new URL(address("/"), location.origin).href;
}

function takePending(): Pending | null {
  const text = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  return text ? (JSON.parse(text) as Pending) : null;
}

/** The query without the answer of the sign-in page. A list of jobs has a parameter `state` of its own. */
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
