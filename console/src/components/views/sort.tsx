/** The order of a list, in the address. The first order is the default. */

import { place, setQuery } from "../../router";

export function Sort({ orders }: { orders: Record<string, string> }) {
  const [first] = Object.keys(orders);
  const chosen = place.value.query.get("sort") ?? first;
  return (
    <select
      class="input is-short"
      aria-label="Order"
      value={chosen}
      onChange={({ currentTarget: { value } }) => setQuery({ sort: value === first ? null : value })}
    >
      {Object.entries(orders).map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  );
}
