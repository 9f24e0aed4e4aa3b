import { DayFilter, ProjectFilter, SearchFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { CostCodesDocument, type TimesheetStatus, TimesheetsDocument } from '../../graphql/generated.ts';
import { useList } from '../../graphql/use-list.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import {
  addDays,
  countDays,
  formatDay,
  formatNumber,
  formatPlural,
  roundNumber,
  sum,
  toCalendarDate,
  toRecordedDay,
} from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { TimesheetCharts } from './timesheet-charts.tsx';

const STATUSES = ['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'] as const satisfies TimesheetStatus[];
/** Length of the default range in days. */
const DEFAULT_DAYS = 42;
/** Maximum length of the range of charts, in days with both ends. */
const MAX_CHART_DAYS = 371;

/** Returns a bound of the range: undefined for the parameter `any`, and the fallback without a parameter. */
const toBound = (value: string | undefined, fallback: string) => (value === 'any' ? undefined : (value ?? fallback));

export default function TimesheetsPage() {
  const { id: builderId, timeZone } = useBuilder();
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
  const listFilter = { ...figureFilter, search: filters.get('search'), firstDay: from, lastDay: until, timeZone };
  const list = useList(TimesheetsDocument, listFilter, 'DATE', 'desc');
  const costCodes = useRequest(CostCodesDocument, { builderId }).data?.costCodes.data ?? [];
  const day = ({ date }: { date: string }) => toRecordedDay(date, timeZone);
  return (
    <ListPage
      title="Timesheets"
      description="Hours that people worked"
      filters={
        <>
          <SearchFilter name="search" label="Person" />
          <ProjectFilter />
          <SelectFilter name="status" label="Status" options={STATUSES} />
          <SelectFilter
            name="code"
            label="Cost code"
            options={costCodes.map(({ id, code, description }) => [id, `${code} ${description}`] as const)}
          />
          <DayFilter name="from" label="From" fallback={from} />
          <DayFilter name="until" label="Until" fallback={until} />
        </>
      }
      {...list}
      page={({ findTimesheets }) => findTimesheets}
      opens="timesheet"
      file={{
        fileName: `timesheets-${from ?? 'all'}-${until ?? 'all'}.csv`,
        columns: [
          ['Id', ({ id }) => id],
          ['Date', (sheet) => day(sheet)],
          ['Person', ({ profile }) => profile.fullName],
          ['Profile', ({ profile }) => profile.type],
          ['Project', ({ project }) => project.name],
          ['Hours', ({ hours }) => roundNumber(hours)],
          ['Time type', ({ timeType }) => timeType],
          ['Cost code', ({ costCode }) => costCode],
          ['Status', ({ status }) => status],
          ['Notes', ({ notes }) => notes],
        ],
      }}
      empty="No timesheets match"
      hint="Choose other days, or another person, project or cost code."
      columns={[
        { header: 'Person', cell: ({ profile }) => profile.fullName, nowrap: true },
        { header: 'Date', cell: (sheet) => formatDay(day(sheet), 'UTC'), nowrap: true, sort: 'DATE' },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Cost code', cell: ({ costCode }) => costCode },
        { header: 'Time type', cell: ({ timeType }) => timeType, nowrap: true },
        { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        { header: 'Hours', cell: ({ hours }) => formatNumber(hours), number: true },
      ]}
      details={({ notes }) => [['Notes', notes]]}
      foot={(sheets) => (
        <tfoot>
          <tr>
            <td colSpan={6}>Hours of the {formatPlural(sheets.length, 'timesheet')} on this page</td>
            <td className="number" data-label="Hours">
              {formatNumber(sum(sheets.map(({ hours }) => hours)))}
            </td>
          </tr>
        </tfoot>
      )}
    >
      {listFilter.search ? null : from && until && countDays(from, until) < MAX_CHART_DAYS ? (
        <TimesheetCharts {...figureFilter} from={from} until={until} />
      ) : (
        <p className="notice">Charts show up to {MAX_CHART_DAYS} days. Choose a shorter range to see them.</p>
      )}
    </ListPage>
  );
}
