import { ChartPanel } from '../../components/chart-panel.tsx';
import { Loaded } from '../../components/states.tsx';
import { InsuranceFiguresDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { addDays, formatMonth, toCalendarDate } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';

/** Months that the chart shows, from the present one. */
const MONTHS = 12;

/** Insurances by the month in which cover ends. */
export function InsuranceChart({ builderId }: { builderId: string }) {
  const { timeZone } = useScope();
  const today = toCalendarDate(Date.now(), timeZone);
  const months = listMonths(today);
  const from = months[0]!;
  const until = addDays(nextMonth(months.at(-1)!), -1);
  const request = useRequest(InsuranceFiguresDocument, { builderId, from, until }, { live: true });
  return (
    <Loaded request={request} lines={5}>
      {({ insurancesByMonth }) => (
        <ChartPanel
          heading="End of cover by month"
          title="Insurances by the month in which cover ends"
          labelHeader="Month"
          unit="Insurances"
          labels={months.map(formatMonth)}
          series={[
            {
              name: 'Insurances',
              values: months.map((month) => insurancesByMonth.find((point) => point.month === month)?.insurances ?? 0),
            },
          ]}
          height={150}
        />
      )}
    </Loaded>
  );
}

const nextMonth = (month: string): string => `${addDays(month, 31).slice(0, 7)}-01`;

function listMonths(today: string): string[] {
  const months = [`${today.slice(0, 7)}-01`];
  while (months.length < MONTHS) months.push(nextMonth(months.at(-1)!));
  return months;
}
