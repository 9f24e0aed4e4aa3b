import { ChartPanel } from '../../components/bar-chart.tsx';
import { formatCount, formatShortDay, listDaysUntil, sum } from '../../shared/format.ts';

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
  const total = (count: (entry: UsageDay) => number, entries = usage) => sum(entries.map(count));
  const perDay = (count: (entry: UsageDay) => number) =>
    days.map((day) =>
      total(
        count,
        usage.filter(({ date }) => date === day),
      ),
    );
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
        { name: 'Succeeded', values: perDay(({ requests, errors, rejections }) => requests - errors - rejections) },
        { name: 'Rejected', values: perDay(({ rejections }) => rejections) },
        { name: 'Failed', values: perDay(({ errors }) => errors) },
      ]}
    />
  );
}
