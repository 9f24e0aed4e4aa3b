import { ChartPanel } from '../../components/chart-panel.tsx';
import { formatCount, formatShortDay, listDaysUntil } from '../../shared/format.ts';

interface UsageDay {
  date: string;
  requests: number;
  errors: number;
  rejections: number;
}

/** Days that the charts of usage show. */
export const USAGE_DAYS = 30;

/** Requests of each day by outcome. Days without requests are zero. */
export function UsageChart({ usage, until }: { usage: readonly UsageDay[]; until: string }) {
  const days = listDaysUntil(until, USAGE_DAYS);
  const sumOf = (day: string, count: (entry: UsageDay) => number) =>
    usage.filter(({ date }) => date === day).reduce((sum, entry) => sum + count(entry), 0);
  const total = (count: (entry: UsageDay) => number) => usage.reduce((sum, entry) => sum + count(entry), 0);
  return (
    <ChartPanel
      heading="Requests by day"
      summary={
        <>
          {formatCount(total(({ requests }) => requests))} requests,{' '}
          {formatCount(total(({ rejections }) => rejections))} rejected, {formatCount(total(({ errors }) => errors))}{' '}
          failed in {USAGE_DAYS} days
        </>
      }
      title="Requests by day and outcome"
      labelHeader="Day (UTC)"
      unit="Requests"
      labels={days.map(formatShortDay)}
      series={[
        {
          name: 'Succeeded',
          values: days.map((day) => sumOf(day, ({ requests, errors, rejections }) => requests - errors - rejections)),
        },
        { name: 'Rejected', values: days.map((day) => sumOf(day, ({ rejections }) => rejections)) },
        { name: 'Failed', values: days.map((day) => sumOf(day, ({ errors }) => errors)) },
      ]}
    />
  );
}
