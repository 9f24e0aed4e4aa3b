import { ChartPanel } from '../../components/bar-chart.tsx';
import type { IntegratorsQuery } from '../../graphql/generated.ts';
import { useFilteredAddress, useFilters } from '../../shared/filters.ts';
import { addDays, formatCount, formatShortDay, sum, toCalendarDate } from '../../shared/format.ts';

type UsageDay = IntegratorsQuery['usageByDay'][number];
type Count = (entry: UsageDay) => number;

/** Days that the charts of usage show. */
export const USAGE_DAYS = 30;

/** Returns the days of the chart, and what the list of failed requests is filtered by. */
export function useUsageFilters() {
  const filters = useFilters();
  const until = toCalendarDate(Date.now(), 'UTC');
  const since = addDays(until, 1 - USAGE_DAYS);
  return { since, until, requestId: filters.get('request'), day: filters.get('day') };
}

/** Requests of each day by outcome, which lead to those of the day that failed. Days without requests are zero. */
export function UsageChart({ usage }: { usage: readonly UsageDay[] }) {
  const address = useFilteredAddress();
  const { since } = useUsageFilters();
  const days = Array.from({ length: USAGE_DAYS }, (_, index) => addDays(since, index));
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
      to={(index) => address({ day: days[index] })}
      series={[
        {
          name: 'Succeeded',
          tone: 'good',
          values: perDay(({ requests, rejections, failures }) => requests - rejections - failures),
        },
        { name: 'Rejected', tone: 'bad part', values: perDay(({ rejections }) => rejections) },
        { name: 'Failed', tone: 'bad', values: perDay(({ failures }) => failures) },
      ]}
    />
  );
}
