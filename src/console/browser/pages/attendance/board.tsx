import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/states.tsx';
import { useFilters } from '../../shared/filters.ts';
import { formatDuration, formatPlural, formatTime, toCalendarDate } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import {
  type BoardRow,
  getDuration,
  getEnd,
  getState,
  isLong,
  LONG,
  toHourRange,
  toPosition,
  VISIT_STATES,
  type Visit,
} from './board-rows.ts';
import { findWrongClocks, type WrongClock } from './gate-clocks.ts';

const LEGEND = [
  ...Object.entries(VISIT_STATES).map(([state, [label]]) => [state, label] as const),
  ['long', LONG],
  ['pending', 'Sign-off without sign-on'],
  ['conflict', 'Conflict to resolve'],
] as const;

/** One row per worker, with visits as bars from sign-on to sign-off. */
export function Board({ rows, date, now }: { rows: readonly BoardRow[]; date: string; now: number }) {
  const { timeZone } = useScope();
  if (rows.length === 0)
    return (
      <section className="panel">
        <Empty title="Nobody signed on">Gates sent no events for this project on this day.</Empty>
      </section>
    );
  const hours = toHourRange(rows, date, timeZone, now);
  const [from, until] = hours;
  const marks = Array.from({ length: until - from + 1 }, (_, index) => from + index);
  const isToday = toCalendarDate(now, timeZone) === date;
  const visits = rows.flatMap((row) => row.visits);
  const open = visits.filter((visit) => getEnd(visit) === null).length;
  const conflicts = rows.reduce((sum, row) => sum + row.conflicts.length, 0);
  const clocks = findWrongClocks(visits);
  return (
    <section className="panel board" aria-label="Board">
      <header>
        <h2>
          {formatPlural(rows.length, 'worker')}, {open} on site
          {conflicts > 0 && `, ${formatPlural(conflicts, 'conflict')}`}
        </h2>
        <ul className="board-legend soft small">
          {LEGEND.map(([state, label]) => (
            <li key={state}>
              <i className={state} />
              {label}
            </li>
          ))}
        </ul>
      </header>
      {clocks.map((clock) => (
        <p key={clock.name} className="notice" role="status">
          The clock of gate {clock.name} is {describeClock(clock)}. It reported{' '}
          {formatPlural(clock.visitIds.size, 'visit')} of this day, whose times stay as they are.
        </p>
      ))}
      <div className="board-body">
        <div className="board-hours" aria-hidden="true">
          {marks.map((hour) => (
            <span key={hour} style={{ left: `${((hour - from) / (until - from)) * 100}%` }}>
              {String(hour).padStart(2, '0')}
            </span>
          ))}
        </div>
        <ul>
          {rows.map((row) => (
            <Row key={row.workerId} row={row} hours={hours} date={date} now={now} isToday={isToday} clocks={clocks} />
          ))}
        </ul>
      </div>
    </section>
  );
}

interface RowProps {
  row: BoardRow;
  hours: readonly [number, number];
  date: string;
  now: number;
  isToday: boolean;
  clocks: readonly WrongClock[];
}

function Row({ row: { fullName, visits, pending, conflicts }, hours, date, now, isToday, clocks }: RowProps) {
  const { timeZone } = useScope();
  const filters = useFilters();
  const at = (instant: string | number) => toPosition(instant, hours, date, timeZone);
  const time = (instant: string | number) => formatTime(instant, timeZone);
  return (
    <li className="board-row">
      <span className="label">{fullName}</span>
      <span className="track" style={{ backgroundSize: `${100 / (hours[1] - hours[0])}% 100%` }}>
        {visits.map((visit) => {
          const left = at(visit.signedOnAt);
          const right = at(getEnd(visit) ?? now);
          const wrong = clocks.filter(({ visitIds }) => visitIds.has(visit.id));
          const long = isLong(visit, now);
          const description = [
            describeVisit(visit, time, now),
            ...(long ? [LONG.toLowerCase()] : []),
            ...wrong.map((clock) => `clock of gate ${clock.name} ${describeClock(clock)}`),
          ].join('; ');
          return (
            <Button
              key={visit.id}
              className={`bar ${getState(visit)}${wrong.length > 0 ? ' wrong-clock' : ''}${long ? ' long' : ''}`}
              style={{ left: `${Math.min(left, right)}%`, width: `max(${Math.abs(right - left)}%, 10px)` }}
              aria-label={`${fullName}: ${description}`}
              title={description}
              onClick={() => filters.set({ visit: visit.id })}
            />
          );
        })}
        {pending.map(({ id, occurredAt }) => (
          <Button
            key={id}
            className="marker pending"
            style={{ left: `${at(occurredAt)}%` }}
            aria-label={`${fullName}: sign-off at ${time(occurredAt)} without a sign-on`}
            onClick={() => filters.set({ pending: id })}
          />
        ))}
        {conflicts.map(({ id, occurredAt, description }) => (
          <Button
            key={id}
            className="marker conflict"
            style={{ left: `${at(occurredAt)}%` }}
            aria-label={`${fullName}: conflict at ${time(occurredAt)}. ${description}`}
            onClick={() => filters.set({ conflict: id })}
          >
            !
          </Button>
        ))}
        {isToday && <i className="now" style={{ left: `${at(now)}%` }} />}
      </span>
    </li>
  );
}

const describeClock = ({ aheadMs }: WrongClock) =>
  `about ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead' : 'behind'}`;

/** Describes a visit in words, such as `06:42 to 15:01, 8 h 19 min`. */
function describeVisit(visit: Visit, time: (instant: string) => string, now: number): string {
  const end = getEnd(visit);
  if (visit.anomaly) return `${time(visit.signedOnAt)}, sign-off before sign-on`;
  const duration = formatDuration(getDuration(visit, now));
  if (end === null) return `on site since ${time(visit.signedOnAt)}, ${duration}`;
  const span = `${time(visit.signedOnAt)} to ${time(end)}, ${duration}`;
  return visit.closedAt ? `${span}, closed by ${visit.closedBy ?? 'a person'}` : span;
}
