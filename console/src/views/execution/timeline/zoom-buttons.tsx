/** Show less of the timeline, or more; with keys while one of the buttons has the focus. */

import type { Axis } from "../../../components/deadline-axis";
import { Icon } from "../../../components/icon";
import { setQuery } from "../../../router";
import { closer, moved, wider } from "./zoom";

export function ZoomButtons({ axis, all }: { axis: Axis; all: Axis }) {
  const isAll = axis.from === all.from && axis.until === all.until;
  const show = (zoom: string | null) => setQuery({ zoom }, { replace: true });
  const keys: Record<string, () => void> = {
    "+": () => show(closer(axis, all)),
    "=": () => show(closer(axis, all)),
    "-": () => show(wider(axis, all)),
    ArrowLeft: () => !isAll && show(moved(axis, all, -1)),
    ArrowRight: () => !isAll && show(moved(axis, all, 1)),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const act = event.metaKey || event.ctrlKey || event.altKey ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <span class="zoom">
      {!isAll && (
        <>
          <Button icon="left" title="Earlier" act={keys.ArrowLeft} onKeyDown={onKeyDown} />
          <Button icon="right" title="Later" act={keys.ArrowRight} onKeyDown={onKeyDown} />
        </>
      )}
      <Button icon="minus" title="Zoom out" act={keys["-"]} onKeyDown={onKeyDown} isDisabled={isAll} />
      <Button icon="plus" title="Zoom in" act={keys["+"]} onKeyDown={onKeyDown} />
    </span>
  );
}

interface ButtonProps {
  icon: "left" | "right" | "minus" | "plus";
  title: string;
  act: (() => void) | undefined;
  onKeyDown: (event: KeyboardEvent) => void;
  isDisabled?: boolean;
}

function Button({ icon, title, act, onKeyDown, isDisabled = false }: ButtonProps) {
  return (
    <button
      type="button"
      class="button is-plain is-icon"
      aria-label={title}
      title={title}
      aria-disabled={isDisabled}
      onClick={act}
      onKeyDown={onKeyDown}
    >
      <Icon name={icon} />
    </button>
  );
}
