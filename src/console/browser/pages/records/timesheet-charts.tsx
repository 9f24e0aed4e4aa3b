import { BarList, ChartPanel } from '../../components/bar-chart.tsx';
import { Panel } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { formatStatus, getTone } from '../../components/status-badge.tsx';
import { TimesheetFiguresDocument, type TimesheetFiguresQueryVariables } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilteredAddress } from '../../shared/filters.ts';
import { addDays, formatNumber, formatShortDay, sum } from '../../shared/format.ts';

const STATUSES = ['APPROVED_2', 'APPROVED_1', 'WAITING_REVIEW', 'REJECTED'] as const;
/** Rows of the lists of projects and cost codes. */
const TOP = 5;

/** Hours of the filters by week and status, by project and by cost code. */
export function TimesheetCharts(variables: TimesheetFiguresQueryVariables) {
  const address = useFilteredAddress();
  const request = useRequest(TimesheetFiguresDocument, variables, { live: true });
  const { from, until } = variables;
  return (
    <Loaded request={request} lines={5}>
      {({ hoursByWeek, hoursByProject, hoursByCostCode }) => {
        const weeks = [...new Set(hoursByWeek.map(({ week }) => week))].sort();
        const shown = STATUSES.filter((one) => hoursByWeek.some(({ status }) => status === one));
        const hours = sum(hoursByWeek.map((point) => point.hours));
        const sheets = sum(hoursByWeek.map(({ timesheets }) => timesheets));
        // The list has a message that nothing matches.
        if (sheets === 0) return null;
        const toWeek = (monday: string) => {
          const sunday = addDays(monday, 6);
          return address({ from: monday < from ? from : monday, until: sunday > until ? until : sunday });
        };
        return (
          <div className="columns figures">
            <ChartPanel
              heading="Hours by week"
              summary={`${formatNumber(hours)} hours in ${formatNumber(sheets)} timesheets`}
              title="Hours by week and status"
              labelHeader="Week from"
              unit="Hours"
              labels={weeks.map(formatShortDay)}
              to={(index) => toWeek(weeks[index]!)}
              series={shown.map((one) => ({
                name: formatStatus(one),
                tone: getTone(one),
                values: weeks.map(
                  (week) => hoursByWeek.find((point) => point.week === week && point.status === one)?.hours ?? 0,
                ),
              }))}
            />
            <TopHours
              title="By project"
              rows={hoursByProject.map(({ project: { id, name }, ...row }) => ({
                name,
                value: row.hours,
                to: address({ project: id }),
              }))}
            />
            <TopHours
              title="By cost code"
              rows={hoursByCostCode.map(({ costCode, hours: value }) =>
                costCode
                  ? { name: `${costCode.code} ${costCode.description}`, value, to: address({ code: costCode.id }) }
                  : { name: 'Without a cost code', value },
              )}
            />
          </div>
        );
      }}
    </Loaded>
  );
}

/** The largest sums of hours. */
function TopHours({ title, rows }: { title: string; rows: readonly { name: string; value: number; to?: string }[] }) {
  const sorted = rows.toSorted((one, other) => other.value - one.value);
  const rest = sum(sorted.slice(TOP).map(({ value }) => value));
  const bars = sorted.slice(0, TOP).map((row) => ({ ...row, children: `${formatNumber(row.value)} h` }));
  // No bar: it would be longer than all others.
  if (rest > 0) bars.push({ name: 'Others', value: 0, children: `${formatNumber(rest)} h` });
  return (
    <Panel title={title}>
      <BarList bars={bars} />
    </Panel>
  );
}
