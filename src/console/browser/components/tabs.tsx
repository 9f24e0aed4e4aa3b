import { Link, useLocation } from 'react-router';
import { useAddress, useFilters } from '../shared/filters.ts';
import { formatCount } from '../shared/format.ts';
import type { Tone } from './status-badge.tsx';

interface Props {
  /** Name for screen readers. */
  label: string;
  /** Parameter of the URL. */
  name: string;
  /** Values of the parameter with the texts of their tabs, and the number of their rows. The first tab has the empty value. */
  tabs: readonly (readonly [value: string, text: string, count?: number | undefined, tone?: Tone])[];
  /** Filters that all tabs have. */
  kept?: Record<string, string | undefined>;
}

/** Links to the views of a page, without its other filters. */
export function Tabs({ label, name, tabs, kept }: Props) {
  const { pathname } = useLocation();
  const address = useAddress();
  const current = useFilters().get(name) ?? '';
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(([value, text, count, tone = '']) => (
        <Link key={value} to={address(pathname, { ...kept, [name]: value })} aria-current={value === current && 'page'}>
          {text} {count !== undefined && <span className={`count ${count > 0 ? tone : ''}`}>{formatCount(count)}</span>}
        </Link>
      ))}
    </nav>
  );
}
