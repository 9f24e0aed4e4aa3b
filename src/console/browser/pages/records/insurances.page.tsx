import { ChartPanel } from '../../components/bar-chart.tsx';
import { SearchFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import {
  InsuranceFiguresDocument,
  InsuranceFileDocument,
  type InsuranceFileQueryVariables,
  type InsuranceStatus,
  InsurancesDocument,
  type InsurancesQueryVariables,
  type InsuranceType,
} from '../../graphql/generated.ts';
import { useList } from '../../graphql/use-list.ts';
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

/** Ends of cover that the filter offers; by default those that are to come. */
const ENDS = [
  ['open', 'Not ended'],
  ['7', 'Ends within 7 days'],
  ['30', 'Ends within 30 days'],
  ['90', 'Ends within 90 days'],
  ['past', 'Has ended'],
  ['any', 'Any time'],
] as const;

type ExpiryRange = Pick<InsurancesQueryVariables, 'firstDay' | 'lastDay'>;

interface ChartProps extends Omit<InsurancesQueryVariables, 'timeZone'> {
  today: string;
  /** Returns the address of the insurances of a bar. */
  address: (filters: { ends: string }) => string;
}

/** Days of the end of cover: from today, until yesterday, or those of a bar of the chart. */
function toExpiryRange(ends: string, today: string): ExpiryRange {
  if (ends === 'any') return {};
  if (ends === 'open') return { firstDay: today };
  const [firstDay, lastDay] = ends.split('..');
  if (lastDay) return { firstDay, lastDay };
  return ends === 'past' ? { lastDay: addDays(today, -1) } : { firstDay: today, lastDay: addDays(today, Number(ends)) };
}

export default function InsurancesPage() {
  const { id: builderId, timeZone } = useBuilder();
  const filters = useFilters();
  const today = toCalendarDate(Date.now(), timeZone);
  const address = useFilteredAddress();
  const ends = filters.get('ends') ?? 'open';
  const chosen = {
    builderId,
    type: filters.get('type') as InsuranceType | undefined,
    status: filters.get('status') as InsuranceStatus | undefined,
    search: filters.get('search'),
    ...toExpiryRange(ends, today),
    timeZone,
  };
  const list = useList(InsurancesDocument, chosen, 'EXPIRY', 'asc');
  return (
    <ListPage
      title="Insurances"
      description="Of active subcontractors"
      filters={
        <>
          <SearchFilter name="search" label="Subcontractor" />
          <SelectFilter
            name="ends"
            label="End of cover"
            options={ends.includes('..') ? [...ENDS, [ends, `Ends in ${formatMonth(ends)}`]] : ENDS}
            fallback="open"
          />
          <SelectFilter name="type" label="Type" options={TYPES} />
          <SelectFilter name="status" label="Status" options={STATUSES} />
        </>
      }
      {...list}
      page={({ findInsurances }) => findInsurances}
      opens="insurance"
      file={{
        fileName: `insurances-${today}.csv`,
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
      hint="Choose another subcontractor, end of cover, type or status."
      columns={[
        { header: 'Subcontractor', cell: ({ subcontractor }) => subcontractor.name },
        { header: 'Insurance', cell: ({ name }) => name },
        { header: 'Type', cell: ({ type, customType }) => customType ?? formatEnum(type) },
        { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        {
          header: 'Ends',
          sort: 'EXPIRY',
          cell: ({ expiry }) => expiry && <Expiry day={toRecordedDay(expiry, timeZone)} today={today} />,
        },
      ]}
      details={({ subcontractor, id }) => [
        ['Document', <InsuranceFile key="file" subcontractorId={subcontractor.id} insuranceId={id} />],
      ]}
    >
      {!chosen.search && <InsuranceChart {...chosen} today={today} address={address} />}
    </ListPage>
  );
}

/** A link to the document, whose address is signed when it is shown. */
function InsuranceFile(variables: InsuranceFileQueryVariables) {
  const url = useRequest(InsuranceFileDocument, variables).data?.insurance.url;
  return (
    url && (
      <a href={url} target="_blank" rel="noopener noreferrer">
        Open
      </a>
    )
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
export function InsuranceChart({ builderId, type, status, firstDay, lastDay, today, address }: ChartProps) {
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
