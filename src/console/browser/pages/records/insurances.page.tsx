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
import { useFilteredAddress, useFilters } from '../../shared/filters.ts';
import {
  addDays,
  countDays,
  formatDay,
  formatEnum,
  formatMonth,
  formatPlural,
  toCalendarDate,
  toRecordedDay,
} from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';

const STATUSES = ['WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED', 'EXPIRED'] as const satisfies InsuranceStatus[];
const TYPES = ['PUBLIC_LIABILITY', 'WORK_COVER', 'OTHER'] as const satisfies InsuranceType[];

/** Days until the end of cover that the filter offers. */
const ENDS = [
  ['7', 'Ends within 7 days'],
  ['30', 'Ends within 30 days'],
  ['90', 'Ends within 90 days'],
  ['past', 'Has ended'],
] as const;

interface ExpiryRange {
  firstDay?: string;
  lastDay?: string;
}

interface InsuranceFilter extends ExpiryRange {
  builderId: string;
  type: InsuranceType | undefined;
  status: InsuranceStatus | undefined;
}

/** Days of the end of cover: from today, until yesterday, or those of a bar of the chart. */
function toExpiryRange(ends: string | undefined, today: string): ExpiryRange {
  if (ends === undefined) return {};
  const [firstDay, lastDay] = ends.split('..');
  if (lastDay) return { firstDay, lastDay };
  return ends === 'past' ? { lastDay: addDays(today, -1) } : { firstDay: today, lastDay: addDays(today, Number(ends)) };
}

export default function InsurancesPage() {
  const { id: builderId, timeZone } = useBuilder();
  const filters = useFilters();
  const today = toCalendarDate(Date.now(), timeZone);
  const ends = filters.get('ends');
  const chosen = {
    builderId,
    type: filters.get('type') as InsuranceType | undefined,
    status: filters.get('status') as InsuranceStatus | undefined,
    ...toExpiryRange(ends, today),
    timeZone,
  };
  const request = useRequest(InsurancesDocument, { ...chosen, offset: usePageOffset() }, { live: true });
  return (
    <ListPage
      title="Insurances"
      description="Of active subcontractors"
      filters={
        <>
          <SelectFilter
            name="ends"
            label="End of cover"
            options={ends?.includes('..') ? [...ENDS, [ends, `Ends in ${formatMonth(ends)}`]] : ENDS}
            all="Any time"
          />
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
      <InsuranceChart {...chosen} today={today} />
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
        days <= 30 && <span className="badge warn">{days === 0 ? 'today' : `in ${formatPlural(days, 'day')}`}</span>
      )}
    </span>
  );
}

/** Insurances of the filters by the month in which cover ends: in the next or, of those that have ended, the last twelve months. */
function InsuranceChart({ builderId, type, status, firstDay, lastDay, today }: InsuranceFilter & { today: string }) {
  const address = useFilteredAddress();
  const from = firstDay ?? (lastDay ? addDays(lastDay, -364) : today);
  const until = lastDay ?? addDays(from, 364);
  const request = useRequest(InsuranceFiguresDocument, { builderId, type, status, from, until }, { live: true });
  return (
    <Loaded request={request} lines={5}>
      {({ insurancesByMonth }) => (
        <ChartPanel
          heading="End of cover by month"
          summary={`${formatDay(from, 'UTC')} to ${formatDay(until, 'UTC')}`}
          title="Insurances by the month in which cover ends"
          labelHeader="Month"
          unit="Insurances"
          labels={insurancesByMonth.map(({ month }) => formatMonth(month))}
          to={(index) => {
            const { month } = insurancesByMonth[index]!;
            const end = addDays(`${addDays(month, 31).slice(0, 7)}-01`, -1);
            return address({ ends: `${month < from ? from : month}..${end > until ? until : end}` });
          }}
          series={[{ name: 'Insurances', values: insurancesByMonth.map(({ insurances }) => insurances) }]}
          height={130}
        />
      )}
    </Loaded>
  );
}
