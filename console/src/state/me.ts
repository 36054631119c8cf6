/** The signed-in user: what they may do decides which actions are offered. */

import { computed, signal } from "@preact/signals";

type Role = string | null;

export interface Me {
  subject: string;
  role: Role;
  /** The teams that the user acts for. */
  teams: { name: string; role: Role }[];
}

export const me = signal<Me | null>(null);
export const mayOperate = computed(() => operates(me.value?.role));
/** Only teams own jobs: without a team, a user submits nothing. */
export const maySubmit = computed(() => mayOperate.value && me.value?.teams.length !== 0);

/** Whether the user may change the jobs of this owner. The API decides; this only hides what it would refuse. */
export function mayManage(owner: string): boolean {
  if (me.value?.role === "admin") return true;
  return operates(me.value?.teams.find((team) => team.name === owner)?.role);
}

function operates(role: Role | undefined): boolean {
  return role === "operator" || role === "admin";
}
