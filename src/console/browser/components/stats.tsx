import { Link } from 'react-router';
import { formatCount } from '../shared/format.ts';
import type { Tone } from './status-badge.tsx';

interface Stat {
  count: number;
  label: string;
  /** Address of the counted rows; absent where the role may not see them. */
  to: string | undefined;
  tone: Tone | undefined;
}

/** Counts, each of which leads to its rows. */
export const Stats = ({ name, stats }: { name: string; stats: readonly Stat[] }) => (
  <section className="stats" aria-label={name}>
    {stats.map(({ count, label, to, tone }) => {
      const Part = to ? Link : 'div';
      return (
        <Part key={label} className="stat" to={to!}>
          <b className={count > 0 ? tone : undefined}>{formatCount(count)}</b>
          <span>{label}</span>
        </Part>
      );
    })}
  </section>
);
