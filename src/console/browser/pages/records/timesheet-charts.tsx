import { ChartPanel } from '../../components/bar-chart.tsx';
import { Panel } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { formatStatus } from '../../components/status-badge.tsx';
import {
  TimesheetFiguresDocument,
  type TimesheetFiguresQueryVariables,
  type TimesheetStatus,
} from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { formatNumber, formatShortDay, sum } from '../../shared/format.ts';

const STATUSES = ['APPROVED_2', 'APPROVED_1', 'WAITING_REVIEW', 'REJECTED'] as const satisfies TimesheetStatus[];
/** Rows of the lists of projects and cost codes. */
const TOP = 5;

type Props = TimesheetFiguresQueryVariables & { status: TimesheetStatus | undefined };

/** Hours of the filters' days by week and status, by project and by cost code. */
export function TimesheetCharts({ status, ...variables }: Props) {
  const request = useRequest(TimesheetFiguresDocument, variables, { live: true });
  return (
    <Loaded request={request} lines={5}>
      {({ hoursByWeek, hoursByProject, hoursByCostCode }) => {
        const shown = STATUSES.filter((one) => !status || one === status);
        const weeks = [...new Set(hoursByWeek.map(({ week }) => week))].sort();
        const points = hoursByWeek.filter((point) => shown.some((one) => one === point.status));
        const hours = sum(points.map((point) => point.hours));
        const sheets = sum(points.map(({ timesheets }) => timesheets));
        const hoursOf = (week: string, one: TimesheetStatus) =>
          sum(points.filter((point) => point.week === week && point.status === one).map((point) => point.hours));
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
            <TopHours title="By project" hours={hoursByProject.map((row) => [row.project.name, row.hours])} />
            <TopHours
              title="By cost code"
              hours={hoursByCostCode.map(({ costCode, hours: sumOf }) => [
                costCode ? `${costCode.code} ${costCode.description}` : 'Without a cost code',
                sumOf,
              ])}
            />
          </div>
        );
      }}
    </Loaded>
  );
}

/** The largest sums of hours, each with a bar that shows its share of the largest. */
function TopHours({ title, hours }: { title: string; hours: readonly [name: string, hours: number][] }) {
  const sorted = [...hours].sort(([, one], [, other]) => other - one);
  const rest = sum(sorted.slice(TOP).map(([, value]) => value));
  return (
    <Panel title={title}>
      <ol className="body top-list">
        {sorted.slice(0, TOP).map(([name, value]) => (
          <li key={name}>
            <span className="label" title={name}>
              {name}
            </span>
            <span>{formatNumber(value)} h</span>
            <i className="share" style={{ width: `${(value / (sorted[0]![1] || 1)) * 100}%` }} />
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
