import type { AnchorHTMLAttributes } from "preact";
import { address, navigate } from "../router";

type Props = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

/** A link within the console. A modified click opens it in another tab, as everywhere. */
export function Link({ to, children, ...rest }: Props) {
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a {...rest} href={address(to)} onClick={open}>
      {children}
    </a>
  );
}
