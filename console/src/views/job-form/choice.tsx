interface Props {
  title: string;
  name: string;
  values: string[];
  value: string;
  onChange: (value: string) => void;
}

/** One of a few values, all visible. */
export function Choice({ title, name, values, value, onChange }: Props) {
  return (
    <div class="field">
      <span class="label">{title}</span>
      <fieldset class="segments" aria-label={title}>
        {values.map((one) => (
          <label key={one}>
            <input type="radio" name={name} checked={value === one} onChange={() => onChange(one)} />
            {one.charAt(0).toUpperCase() + one.slice(1)}
          </label>
        ))}
      </fieldset>
    </div>
  );
}
