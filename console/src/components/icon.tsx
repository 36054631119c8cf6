import { STATUS_SHAPES, UI_SHAPES } from "./icon-shapes";

const SHAPES = { ...STATUS_SHAPES, ...UI_SHAPES };
export type IconName = keyof typeof SHAPES;

interface Props {
  name: IconName;
  /** In words, if the icon stands alone. */
  label?: string;
  class?: string;
}

export function Icon({ name, label, class: className }: Props) {
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: it has a label, or is hidden beside its word
    <svg
      class={`icon${className ? ` ${className}` : ""}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" })}
    >
      {SHAPES[name]}
    </svg>
  );
}
