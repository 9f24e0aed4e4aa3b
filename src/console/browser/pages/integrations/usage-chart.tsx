import { ChartPanel } from '../../components/bar-chart.tsx';
import type { IntegratorsQuery } from '../../graphql/generated.ts';
import { formatCount, formatShortDay, listDaysUntil, sum } from '../../shared/format.ts';

type UsageDay = IntegratorsQuery['usageByDay'][number];
type Count = (entry: UsageDay) => number;

/** Days that the charts of usage show. */
export const USAGE_DAYS = 30;

/** Requests of each day by outcome. Days without requests are zero. */
export function UsageChart({ usage, until }: { usage: readonly UsageDay[]; until: string }) {
  const days = listDaysUntil(until, USAGE_DAYS);
  const total = (count: Count) => formatCount(sum(usage.map(count)));
  const perDay = (count: Count) => days.map((day) => sum(usage.filter(({ date }) => date === day).map(count)));
  return (
    <ChartPanel
      heading="Requests by day"
      summary={
        <>
          {total(({ requests }) => requests)} requests, {total(({ rejections }) => rejections)} rejected,{' '}
          {total(({ failures }) => failures)} failed in {USAGE_DAYS} days
        </>
      }
      title="Requests by day and outcome"
      labelHeader="Day (UTC)"
      unit="Requests"
      labels={days.map(formatShortDay)}
      series={[
        { name: 'Succeeded', values: perDay(({ requests, rejections, failures }) => requests - rejections - failures) },
        { name: 'Rejected', values: perDay(({ rejections }) => rejections) },
        { name: 'Failed', values: perDay(({ failures }) => failures) },
      ]}
    />
  );
}
