/** Text as it is, in a box that can be scrolled by keyboard. */
export function Preformatted({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section class="well" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  );
}
