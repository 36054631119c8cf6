/** The signed-in user: what they may do decides which actions are offered. */

import { computed, signal } from "@preact/signals";

export interface Me {
  subject: string;
  role: string;
  teams: string[];
}

export const me = signal<Me | null>(null);
export const mayOperate = computed(() => me.value?.role === "operator" || me.value?.role === "admin");

/** Whether the user may change the jobs of this owner. The API decides; this only hides what it would refuse. */
export function mayManage(owner: string): boolean {
  if (me.value?.role === "admin") return true;
  return mayOperate.value && (me.value?.teams.length ? me.value.teams.includes(owner) : owner === me.value?.subject);
}
