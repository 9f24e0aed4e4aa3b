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
  toCalendarDate,
  toRecordedDay,
} from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { TimesheetCharts } from './timesheet-charts.tsx';

const STATUSES = ['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'] as const satisfies TimesheetStatus[];
const HEADER = ['Id', 'Date', 'Person', 'Profile', 'Project', 'Hours', 'Time type', 'Cost code', 'Status', 'Notes'];
/** Days that the page shows by default: six weeks. */
const USUAL_DAYS = 42;
/** Days of the longest range that the service adds up. */
const MAX_CHART_DAYS = 371;

/** Returns a bound of the range: undefined for `any`, which the URL has for no bound. */
const toBound = (value: string | undefined, usual: string) => (value === 'any' ? undefined : (value ?? usual));

const formatBound = (day: string | undefined, open: string) => (day ? formatDay(day, 'UTC') : open);

export default function TimesheetsPage() {
  const client = useUncachedClient();
  const { id: builderId } = useBuilder();
  const { timeZone } = useScope();
  const filters = useFilters();
  const today = toCalendarDate(Date.now(), timeZone);
  const from = toBound(filters.get('from'), addDays(today, -USUAL_DAYS));
  const until = toBound(filters.get('until'), today);
  const chosen = {
    builderId,
    projectId: filters.get('project'),
    costCodeId: filters.get('code'),
    status: filters.get('status') as TimesheetStatus | undefined,
  };
  const listed = { ...chosen, firstDay: from, lastDay: until, timeZone };
  const offset = usePageOffset();
  const request = useRequest(TimesheetsDocument, { ...listed, offset }, { live: true });
  const costCodes = useRequest(CostCodesDocument, { builderId });
  const projects = useProjects(builderId);
  const readPage = async (cursor: string) => {
    const { builder } = await readExportPage(client, TimesheetsDocument, { ...listed, cursor });
    const { timesheets } = builder;
    const rows = timesheets.data.map((sheet) => [
      ...[
        sheet.id,
        toRecordedDay(sheet.date, timeZone),
        sheet.profile.fullName,
        sheet.profile.type,
        sheet.project.name,
      ],
      ...[sheet.hours, sheet.timeType, sheet.costCode, sheet.status, sheet.notes],
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
        <TimesheetCharts {...chosen} startDate={from} endDate={until} />
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
