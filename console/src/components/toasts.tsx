/** Short confirmations. Errors stay until they are closed. */

import { signal } from "@preact/signals";
import { Problem } from "../api/problem";
import { Icon } from "./icon";
import { Link } from "./link";

interface Toast {
  id: number;
  text: string;
  isError: boolean;
  link?: { text: string; to: string } | undefined;
}

const SHOWN_MS = 6_000;
const toasts = signal<Toast[]>([]);
let lastId = 0;

export function say(text: string, link?: { text: string; to: string }): void {
  const id = add({ text, isError: false, link });
  setTimeout(() => close(id), SHOWN_MS);
}

export function complain(error: unknown): void {
  add({ text: error instanceof Problem ? error.message : String(error), isError: true });
}

function add(toast: Omit<Toast, "id">): number {
  lastId += 1;
  toasts.value = [...toasts.value, { ...toast, id: lastId }];
  return lastId;
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite">
      {toasts.value.map((toast) => (
        <div class="toast" key={toast.id} role={toast.isError ? "alert" : "status"}>
          <Icon name={toast.isError ? "failed" : "check"} />
          <span>{toast.text}</span>
          {toast.link && <Link to={toast.link.to}>{toast.link.text}</Link>}
          <button type="button" aria-label="Close" onClick={() => close(toast.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
