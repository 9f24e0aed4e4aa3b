import { DataTable } from '../../components/data-table.tsx';
import { ExportButton } from '../../components/export-button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager, usePageOffset } from '../../components/pager.tsx';
import { SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { useUncachedClient } from '../../graphql/client.ts';
import { type InsuranceStatus, InsurancesDocument, type InsuranceType } from '../../graphql/generated.ts';
import { readExportPage } from '../../graphql/read-export-page.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { addDays, countDays, formatDay, formatEnum, toCalendarDate, toRecordedDay } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { InsuranceChart } from './insurance-chart.tsx';

const STATUSES = ['WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED', 'EXPIRED'] as const satisfies InsuranceStatus[];
const TYPES = ['PUBLIC_LIABILITY', 'WORK_COVER', 'OTHER'] as const satisfies InsuranceType[];
const HEADER = ['Id', 'Name', 'Subcontractor', 'Type', 'Own type', 'Status', 'Expiry'];

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
  const client = useUncachedClient();
  const { id: builderId } = useBuilder();
  const { timeZone } = useScope();
  const filters = useFilters();
  const today = toCalendarDate(Date.now(), timeZone);
  const chosen = {
    builderId,
    type: filters.get('type') as InsuranceType | undefined,
    status: filters.get('status') as InsuranceStatus | undefined,
    ...{ ...toExpiryRange(filters.get('ends'), today), timeZone },
  };
  const offset = usePageOffset();
  const request = useRequest(InsurancesDocument, { ...chosen, offset }, { live: true });
  const readPage = async (cursor: string) => {
    const { insurances } = await readExportPage(client, InsurancesDocument, { ...chosen, cursor });
    const rows = insurances.data.map((insurance) => [
      ...[insurance.id, insurance.name, insurance.subcontractor.name, insurance.type, insurance.customType],
      ...[insurance.status, insurance.expiry && toRecordedDay(insurance.expiry, timeZone)],
    ]);
    return { rows, nextCursor: insurances.meta.nextCursor };
  };
  return (
    <>
      <PageHead title="Insurances" description="Of active subcontractors">
        <SelectFilter name="ends" label="End of cover" options={ENDS} all="Any time" />
        <SelectFilter name="type" label="Type" options={TYPES} />
        <SelectFilter name="status" label="Status" options={STATUSES} />
        <ExportButton fileName={`insurances-${today}.csv`} header={HEADER} readPage={readPage} />
      </PageHead>
      <InsuranceChart builderId={builderId} />
      <section className="panel" aria-label="Insurances">
        <Loaded request={request} lines={12}>
          {({ insurances: { data, meta } }) => (
            <>
              <DataTable
                caption="Insurances"
                empty={<Empty title="No insurances match">Choose another end of cover, type or status.</Empty>}
                rows={data}
                rowKey={({ id }) => id}
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
              />
              <Pager {...meta} />
            </>
          )}
        </Loaded>
      </section>
    </>
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
