import { DataTable } from '../../components/data-table.tsx';
import { ExportButton } from '../../components/export-button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager, usePageOffset } from '../../components/pager.tsx';
import { ProjectFilter } from '../../components/project-filter.tsx';
import { DayFilter, SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { useUncachedClient } from '../../graphql/client.ts';
import { CostCodesDocument, type TimesheetStatus, TimesheetsDocument } from '../../graphql/generated.ts';
import { readExportPage } from '../../graphql/read-export-page.ts';
import { useProjects } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import {
  addDays,
  countDays,
  formatDay,
  formatNumber,
  formatPlural,
  roundNumber,
  toCalendarDate,
  toRecordedDay,
} from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { TimesheetCharts } from './timesheet-charts.tsx';

const STATUSES = ['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'] as const satisfies TimesheetStatus[];
const HEADER = ['Id', 'Date', 'Person', 'Profile', 'Project', 'Hours', 'Time type', 'Cost code', 'Status', 'Notes'];
/** Length of the default range in days. */
const DEFAULT_DAYS = 42;
/** Maximum length of the range of charts, in days with both ends. */
const MAX_CHART_DAYS = 371;

/** Returns a bound of the range: undefined for the parameter `any`, and the fallback without a parameter. */
const toBound = (value: string | undefined, fallback: string) => (value === 'any' ? undefined : (value ?? fallback));

const formatBound = (day: string | undefined, open: string) => (day ? formatDay(day, 'UTC') : open);

export default function TimesheetsPage() {
  const client = useUncachedClient();
  const { id: builderId } = useBuilder();
  const { timeZone } = useScope();
  const filters = useFilters();
  const today = toCalendarDate(Date.now(), timeZone);
  const from = toBound(filters.get('from'), addDays(today, -DEFAULT_DAYS));
  const until = toBound(filters.get('until'), today);
  const figureFilter = {
    builderId,
    projectId: filters.get('project'),
    costCodeId: filters.get('code'),
    status: filters.get('status') as TimesheetStatus | undefined,
  };
  const listFilter = { ...figureFilter, firstDay: from, lastDay: until, timeZone };
  const offset = usePageOffset();
  const request = useRequest(TimesheetsDocument, { ...listFilter, offset }, { live: true });
  const costCodes = useRequest(CostCodesDocument, { builderId });
  const projects = useProjects(builderId);
  const readPage = async (cursor: string) => {
    const { builder } = await readExportPage(client, TimesheetsDocument, { ...listFilter, cursor });
    const { timesheets } = builder;
    const rows = timesheets.data.map((sheet) => [
      ...[
        sheet.id,
        toRecordedDay(sheet.date, timeZone),
        sheet.profile.fullName,
        sheet.profile.type,
        sheet.project.name,
      ],
      ...[roundNumber(sheet.hours), sheet.timeType, sheet.costCode, sheet.status, sheet.notes],
    ]);
    return { rows, nextCursor: timesheets.meta.nextCursor };
  };
  return (
    <>
      <PageHead
        title="Timesheets"
        description={
          from || until
            ? `${formatBound(from, 'the first day')} to ${formatBound(until, 'the last day')}`
            : 'Of all days'
        }
      >
        <ProjectFilter projects={projects.data} />
        <SelectFilter name="status" label="Status" options={STATUSES} />
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
        <ExportButton
          fileName={`timesheets-${from ?? 'all'}-${until ?? 'all'}.csv`}
          header={HEADER}
          readPage={readPage}
        />
      </PageHead>
      {from && until && countDays(from, until) < MAX_CHART_DAYS ? (
        <TimesheetCharts {...figureFilter} startDate={from} endDate={until} />
      ) : (
        <p className="notice">Charts show up to {MAX_CHART_DAYS} days. Choose a shorter range to see them.</p>
      )}
      <section className="panel" aria-label="Timesheets">
        <Loaded request={request} lines={12}>
          {({
            builder: {
              timesheets: { data, meta },
            },
          }) => (
            <>
              <DataTable
                caption="Timesheets"
                empty={<Empty title="No timesheets match">Choose other days, or another project or cost code.</Empty>}
                rows={data}
                rowKey={({ id }) => id}
                columns={[
                  { header: 'Person', cell: ({ profile }) => profile.fullName, nowrap: true },
                  {
                    header: 'Date',
                    cell: ({ date }) => formatDay(toRecordedDay(date, timeZone), 'UTC'),
                    nowrap: true,
                  },
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
              <Pager {...meta} />
            </>
          )}
        </Loaded>
      </section>
    </>
  );
}
