import { mayManage, mayOperate } from "../../state/me";
import { Link } from "../link";
import type { Step } from "./steps";

interface Props {
  steps: Step[];
  /** The team that may change it; null if it concerns all teams. */
  owner: string | null;
  /** Whether the first one stands out. */
  hasMain?: boolean;
}

/** Remedies as buttons: only those that the user may apply. */
export function Steps({ steps, owner, hasMain = true }: Props) {
  const mayChange = owner === null ? mayOperate.value : mayManage(owner);
  return (
    <>
      {steps
        .filter((one) => mayChange || !one.isChange)
        .map((one, position) => (
          <Link key={one.text} to={one.to} class={`button${hasMain && position === 0 ? " is-main" : ""}`}>
            {one.text}
          </Link>
        ))}
    </>
  );
}
