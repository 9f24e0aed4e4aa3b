import { ChartPanel } from '../../components/bar-chart.tsx';
import { SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { usePageOffset } from '../../components/pager.tsx';
import { Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import {
  InsuranceFiguresDocument,
  type InsuranceStatus,
  InsurancesDocument,
  type InsuranceType,
} from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import {
  addDays,
  countDays,
  formatDay,
  formatEnum,
  formatMonth,
  toCalendarDate,
  toRecordedDay,
} from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';

const STATUSES = ['WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED', 'EXPIRED'] as const satisfies InsuranceStatus[];
const TYPES = ['PUBLIC_LIABILITY', 'WORK_COVER', 'OTHER'] as const satisfies InsuranceType[];
/** Months that the chart shows, from the present one. */
const MONTHS = 12;

/** Days until the end of cover that the filter offers. */
const ENDS = [
  ['7', 'Ends within 7 days'],
  ['30', 'Ends within 30 days'],
  ['90', 'Ends within 90 days'],
  ['past', 'Has ended'],
] as const;

/** Days of the end of cover: from today, or until yesterday. */
function toExpiryRange(ends: string | undefined, today: string) {
  if (ends === undefined) return {};
  return ends === 'past' ? { lastDay: addDays(today, -1) } : { firstDay: today, lastDay: addDays(today, Number(ends)) };
}

export default function InsurancesPage() {
  const { id: builderId, timeZone } = useBuilder();
  const filters = useFilters();
  const today = toCalendarDate(Date.now(), timeZone);
  const chosen = {
    builderId,
    type: filters.get('type') as InsuranceType | undefined,
    status: filters.get('status') as InsuranceStatus | undefined,
    ...toExpiryRange(filters.get('ends'), today),
    timeZone,
  };
  const request = useRequest(InsurancesDocument, { ...chosen, offset: usePageOffset() }, { live: true });
  return (
    <ListPage
      title="Insurances"
      description="Of active subcontractors"
      filters={
        <>
          <SelectFilter name="ends" label="End of cover" options={ENDS} all="Any time" />
          <SelectFilter name="type" label="Type" options={TYPES} />
          <SelectFilter name="status" label="Status" options={STATUSES} />
        </>
      }
      request={request}
      page={({ insurances }) => insurances}
      file={{
        fileName: `insurances-${today}.csv`,
        query: InsurancesDocument,
        variables: chosen,
        columns: [
          ['Id', ({ id }) => id],
          ['Name', ({ name }) => name],
          ['Subcontractor', ({ subcontractor }) => subcontractor.name],
          ['Type', ({ type }) => type],
          ['Own type', ({ customType }) => customType],
          ['Status', ({ status }) => status],
          ['Expiry', ({ expiry }) => expiry && toRecordedDay(expiry, timeZone)],
        ],
      }}
      empty="No insurances match"
      hint="Choose another end of cover, type or status."
      columns={[
        { header: 'Subcontractor', cell: ({ subcontractor }) => subcontractor.name },
        { header: 'Insurance', cell: ({ name }) => name },
        { header: 'Type', cell: ({ type, customType }) => customType ?? formatEnum(type) },
        { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        {
          header: 'Ends',
          cell: ({ expiry }) => expiry && <Expiry day={toRecordedDay(expiry, timeZone)} today={today} />,
        },
      ]}
    >
      <InsuranceChart builderId={builderId} today={today} />
    </ListPage>
  );
}

/** End of cover, with the days that remain when they are few. */
function Expiry({ day, today }: { day: string; today: string }) {
  const days = countDays(today, day);
  return (
    <span className="nowrap">
      {formatDay(day, 'UTC')}{' '}
      {days < 0 ? (
        <span className="badge bad">ended</span>
      ) : (
        days <= 30 && <span className="badge warn">{days === 0 ? 'today' : `in ${days} d`}</span>
      )}
    </span>
  );
}

const nextMonth = (month: string): string => `${addDays(month, 31).slice(0, 7)}-01`;

/** Insurances by the month in which cover ends. */
function InsuranceChart({ builderId, today }: { builderId: string; today: string }) {
  const from = `${today.slice(0, 7)}-01`;
  const months = [from];
  while (months.length < MONTHS) months.push(nextMonth(months.at(-1)!));
  const until = addDays(nextMonth(months.at(-1)!), -1);
  const request = useRequest(InsuranceFiguresDocument, { builderId, from, until }, { live: true });
  return (
    <Loaded request={request} lines={5}>
      {({ insurancesByMonth }) => {
        const countOf = (month: string) => insurancesByMonth.find((point) => point.month === month)?.insurances ?? 0;
        return (
          <ChartPanel
            heading="End of cover by month"
            title="Insurances by the month in which cover ends"
            labelHeader="Month"
            unit="Insurances"
            labels={months.map(formatMonth)}
            series={[{ name: 'Insurances', values: months.map(countOf) }]}
            height={150}
          />
        );
      }}
    </Loaded>
  );
}
