import { ChartPanel } from '../../components/chart-panel.tsx';
import { Panel } from '../../components/panel.tsx';
import { Loaded } from '../../components/states.tsx';
import { formatStatus } from '../../components/status-badge.tsx';
import { TimesheetFiguresDocument, type TimesheetStatus } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { formatNumber, formatShortDay } from '../../shared/format.ts';

const STATUSES = ['APPROVED_2', 'APPROVED_1', 'WAITING_REVIEW', 'REJECTED'] as const satisfies TimesheetStatus[];
/** Rows of the lists of projects and cost codes. */
const TOP = 5;

interface Props {
  builderId: string;
  projectId: string | undefined;
  costCodeId: string | undefined;
  status: TimesheetStatus | undefined;
  startDate: string;
  endDate: string;
}

/** Hours of the filters' days by week and status, by project and by cost code. */
export function TimesheetCharts({ builderId, projectId, costCodeId, status, startDate, endDate }: Props) {
  const variables = { builderId, projectId, costCodeId, from: startDate, until: endDate };
  const request = useRequest(TimesheetFiguresDocument, variables, { live: true });
  return (
    <Loaded request={request} lines={5}>
      {({ hoursByWeek, hoursByProject, hoursByCostCode }) => {
        const shown = STATUSES.filter((one) => !status || one === status);
        const weeks = [...new Set(hoursByWeek.map(({ week }) => week))].sort();
        const hoursOf = (week: string, one: TimesheetStatus) =>
          hoursByWeek
            .filter((point) => point.week === week && point.status === one)
            .reduce((sum, { hours }) => sum + hours, 0);
        const points = hoursByWeek.filter((point) => shown.some((one) => one === point.status));
        const hours = points.reduce((sum, point) => sum + point.hours, 0);
        const sheets = points.reduce((sum, { timesheets }) => sum + timesheets, 0);
        // The list has a message that nothing matches.
        if (sheets === 0) return null;
        return (
          <div className="columns figures">
            <ChartPanel
              heading="Hours by week"
              summary={`${formatNumber(hours)} hours in ${formatNumber(sheets)} timesheets`}
              title="Hours by week and status"
              labelHeader="Week from"
              unit="Hours"
              height={220}
              labels={weeks.map(formatShortDay)}
              series={shown.map((one) => ({
                name: formatStatus(one),
                values: weeks.map((week) => hoursOf(week, one)),
              }))}
            />
            <TopList
              title="By project"
              rows={hoursByProject.map((row) => ({ name: row.project.name, hours: row.hours }))}
            />
            <TopList
              title="By cost code"
              rows={hoursByCostCode.map((row) => ({
                name: row.costCode ? `${row.costCode.code} ${row.costCode.description}` : 'Without a cost code',
                hours: row.hours,
              }))}
            />
          </div>
        );
      }}
    </Loaded>
  );
}

/** The largest sums, each with a bar that shows its share of the largest. */
function TopList({ title, rows }: { title: string; rows: readonly { name: string; hours: number }[] }) {
  const sorted = [...rows].sort((a, b) => b.hours - a.hours);
  const rest = sorted.slice(TOP).reduce((sum, { hours }) => sum + hours, 0);
  return (
    <Panel title={title}>
      <ol className="body top-list">
        {sorted.slice(0, TOP).map(({ name, hours }) => (
          <li key={name}>
            <span className="label" title={name}>
              {name}
            </span>
            <span>{formatNumber(hours)} h</span>
            <i className="share" style={{ width: `${(hours / (sorted[0]?.hours || 1)) * 100}%` }} />
          </li>
        ))}
        {rest > 0 && (
          <li className="soft">
            <span>Others</span>
            <span>{formatNumber(rest)} h</span>
          </li>
        )}
      </ol>
    </Panel>
  );
}
