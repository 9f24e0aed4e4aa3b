import { useClient } from 'urql';
import { DataTable, Pager } from '../../components/data-table.tsx';
import { ExportButton } from '../../components/export-button.tsx';
import { DayFilter, SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { formatStatus, StatusBadge } from '../../components/status-badge.tsx';
import {
  CostCodesDocument,
  CostCodeTimesheetsDocument,
  type TimesheetStatus,
  TimesheetsDocument,
  type TimesheetsQueryVariables,
} from '../../graphql/generated.ts';
import { readExportPage } from '../../graphql/read-export-page.ts';
import { useProjects } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { addDays, formatDay, formatNumber, formatPlural, formatShortDay, toCalendarDate } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { TimesheetCharts } from './timesheet-charts.tsx';

const STATUSES = ['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'] as const satisfies TimesheetStatus[];
const HEADER = ['Id', 'Date', 'Person', 'Profile', 'Project', 'Hours', 'Time type', 'Cost code', 'Status', 'Notes'];
const PAGE_SIZE = 25;
/** Days that the page shows without a choice: six weeks. */
const USUAL_DAYS = 42;

/** Both queries return the same fields. */
type Query = readonly [typeof TimesheetsDocument, TimesheetsQueryVariables];

export default function TimesheetsPage() {
  const client = useClient();
  const { id: builderId } = useBuilder();
  const { timeZone } = useScope();
  const filters = useFilters();
  const today = toCalendarDate(Date.now(), timeZone);
  const from = filters.get('from') ?? addDays(today, -USUAL_DAYS);
  const until = filters.get('until') ?? today;
  const chosen = {
    builderId,
    projectId: filters.get('project'),
    costCodeId: filters.get('code'),
    status: filters.get('status') as TimesheetStatus | undefined,
    startDate: from,
    endDate: until,
  };
  const offset = (Number(filters.get('page') ?? 1) - 1) * PAGE_SIZE;
  const { costCodeId, ...others } = chosen;
  const toQuery = (window: { offset?: number; cursor?: string }) =>
    costCodeId === undefined
      ? ([TimesheetsDocument, { ...others, ...window }] as const)
      : ([CostCodeTimesheetsDocument, { ...others, ...window, costCodeId }] as const);
  const request = useRequest(...(toQuery({ offset }) as Query), { live: true });
  const costCodes = useRequest(CostCodesDocument, { builderId });
  const projects = useProjects(builderId);
  const readPage = async (cursor: string) => {
    const { timesheets } = await readExportPage(client, ...(toQuery({ cursor }) as Query));
    const rows = timesheets.data.map((sheet) => [
      ...[sheet.id, sheet.date.slice(0, 10), sheet.profile.fullName, sheet.profile.type, sheet.project.name],
      ...[sheet.hours, sheet.timeType, sheet.costCode, sheet.status, sheet.notes],
    ]);
    return { rows, nextCursor: timesheets.meta.nextCursor };
  };
  return (
    <>
      <div className="page-head">
        <div>
          <h1>Timesheets</h1>
          <p>
            {formatDay(from, 'UTC')} to {formatDay(until, 'UTC')}
          </p>
        </div>
        <div className="filters">
          <SelectFilter
            name="project"
            label="Project"
            options={projects.data?.map(({ id, name }) => [id, name] as const) ?? []}
          />
          <SelectFilter
            name="status"
            label="Status"
            options={STATUSES.map((status) => [status, formatStatus(status)] as const)}
          />
          <SelectFilter
            name="code"
            label="Cost code"
            options={
              costCodes.data?.costCodes.data.map(
                ({ id, code, description }) => [id, `${code} ${description}`] as const,
              ) ?? []
            }
          />
          <DayFilter name="from" label="From" fallback={from} />
          <DayFilter name="until" label="Until" fallback={until} />
          <ExportButton fileName={`timesheets-${from}-${until}.csv`} header={HEADER} readPage={readPage} />
        </div>
      </div>
      <TimesheetCharts {...chosen} />
      <section className="panel" aria-label="Timesheets">
        <Loaded request={request} lines={12}>
          {({ timesheets: { data, meta } }) =>
            data.length === 0 ? (
              <Empty title="No timesheets match">Choose other days, or another project or cost code.</Empty>
            ) : (
              <>
                <DataTable
                  caption="Timesheets"
                  rows={data}
                  rowKey={({ id }) => id}
                  columns={[
                    { header: 'Person', cell: ({ profile }) => profile.fullName, nowrap: true },
                    { header: 'Date', cell: ({ date }) => formatShortDay(date), nowrap: true },
                    { header: 'Project', cell: ({ project }) => project.name },
                    { header: 'Cost code', cell: ({ costCode }) => costCode },
                    { header: 'Time type', cell: ({ timeType }) => timeType, nowrap: true },
                    { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
                    { header: 'Hours', cell: ({ hours }) => formatNumber(hours), number: true },
                  ]}
                  foot={
                    <tfoot>
                      <tr>
                        <td colSpan={6}>Hours of the {formatPlural(data.length, 'timesheet')} on this page</td>
                        <td className="number" data-label="Hours">
                          {formatNumber(data.reduce((sum, { hours }) => sum + hours, 0))}
                        </td>
                      </tr>
                    </tfoot>
                  }
                />
                <Pager
                  offset={meta.offset}
                  limit={meta.limit}
                  total={meta.totalCount}
                  onPage={(page) => filters.set({ page: String(page) })}
                />
              </>
            )
          }
        </Loaded>
      </section>
    </>
  );
}
