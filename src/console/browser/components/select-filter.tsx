import { useFilters } from '../shared/filters.ts';
import { formatStatus } from './status-badge.tsx';

interface Props {
  /** Parameter of the URL. */
  name: string;
  label: string;
  /** Values, or pairs of a value and its label. */
  options: readonly (string | readonly [value: string, label: string])[];
  /** Label of no choice. */
  all?: string;
  /** Value that applies without a choice, where all is none. */
  fallback?: string;
}

/** A choice that is kept in the URL. */
export function SelectFilter({ name, label, options, all = 'All', fallback }: Props) {
  const filters = useFilters();
  return (
    <label className="field">
      {label}
      <select
        value={filters.get(name) ?? fallback ?? ''}
        onChange={({ target }) => filters.set({ [name]: target.value })}
      >
        {fallback === undefined && <option value="">{all}</option>}
        {options.map((option) => {
          const [value, text] = typeof option === 'string' ? [option, formatStatus(option)] : option;
          return (
            <option key={value} value={value}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}

/** A day that is kept in the URL. */
export function DayFilter({ name, label, fallback }: { name: string; label: string; fallback?: string }) {
  const filters = useFilters();
  return (
    <label className="field">
      {label}
      <input
        type="date"
        value={filters.get(name) ?? fallback ?? ''}
        onChange={({ target }) => filters.set({ [name]: target.value })}
      />
    </label>
  );
}
