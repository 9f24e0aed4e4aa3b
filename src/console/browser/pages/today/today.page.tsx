import { Link } from 'react-router';
import { BarList, ChartPanel } from '../../components/bar-chart.tsx';
import { PageHead, Panel } from '../../components/page.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { Stats } from '../../components/stats.tsx';
import { TodayDocument, type TodayQuery } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress } from '../../shared/filters.ts';
import {
  addDays,
  formatCalendarDay,
  formatCount,
  formatHour,
  formatShortDay,
  formatTime,
  formatTimeZone,
  sum,
  toCalendarDate,
} from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { useNow } from '../../shared/use-now.ts';
import { InsuranceChart } from '../records/insurances.page.tsx';

/** Figures that the query returns where the role allows them. */
type Figures = { [Field in keyof TodayQuery]-?: NonNullable<TodayQuery[Field]> };

/** Days of the chart of workers: four weeks. */
const DAYS = 28;
/** Hours that the chart shows at least. */
const USUAL = [5, 18] as const;

/** Who is on site, how the morning compares, and what waits for a person. */
export default function TodayPage() {
  const builder = useBuilder();
  const { timeZone, me } = useScope();
  const now = useNow();
  const address = useAddress();
  const addressOfInsurances = (filters: { ends: string }) => address('/insurances', filters);
  const attendance = me.scopes.includes('read:attendance');
  const date = toCalendarDate(now, timeZone);
  const variables = { builderId: builder.id, date, from: addDays(date, 1 - DAYS), attendance };
  const request = useRequest(TodayDocument, variables, { live: true });
  return (
    <>
      <PageHead
        title={`Today at ${builder.name}`}
        description={`${formatCalendarDay(date)}, ${formatTime(now, timeZone)} ${formatTimeZone(timeZone)}`}
      />
      <Loaded request={request} lines={14}>
        {({ itemsAwaitingAction, workersOnSite, signOnsByHour, attendanceByDay }) => (
          <>
            <Awaiting items={itemsAwaitingAction} />
            <div className="columns wide">
              <div className="stack">
                {workersOnSite && <OnSite sites={workersOnSite} />}
                {attendanceByDay && <WorkersByDay counts={attendanceByDay} />}
                {!attendance && <InsuranceChart builderId={builder.id} today={date} address={addressOfInsurances} />}
              </div>
              {signOnsByHour && <SignOns hours={signOnsByHour} date={date} />}
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

function Awaiting({ items }: { items: Figures['itemsAwaitingAction'] }) {
  const address = useAddress();
  const { can } = useScope();
  // The rows of these lists name people, whose records wait for a review.
  const ofPeople = (page: string, filters?: Record<string, string>) =>
    can('person.read') ? address(page, { status: 'WAITING_REVIEW', ...filters }) : undefined;
  const entries = [
    [items.signOnConflicts, 'attendance conflicts', address('/attendance', { show: 'conflicts' }), 'bad'],
    [items.pendingSignOffs, 'sign-offs without sign-on', address('/attendance', { show: 'pending' }), 'warn'],
    [items.timesheets, 'timesheets to review', ofPeople('/timesheets', { from: 'any', until: 'any' }), 'warn'],
    [items.inductions, 'inductions to review', ofPeople('/inductions'), 'warn'],
    [items.insurances, 'insurances ending within 30 days', address('/insurances', { ends: '30' }), 'warn'],
    [items.failingWebhookEndpoints, 'failing webhooks', address('/integrations', { show: 'failing' }), 'bad'],
  ] as const;
  // The role may not see attendance.
  const shown = entries.flatMap(([count, label, to, tone]) => (count == null ? [] : [{ count, label, to, tone }]));
  return <Stats name="Awaiting action" stats={shown} />;
}

function OnSite({ sites }: { sites: Figures['workersOnSite'] }) {
  const address = useAddress();
  const sorted = [...sites].sort((a, b) => b.onSite - a.onSite || a.project.name.localeCompare(b.project.name));
  const total = sum(sorted.map(({ onSite }) => onSite));
  return (
    <Panel title="On site now" aside={<span className="count">{formatCount(total)}</span>}>
      {sorted.length === 0 ? (
        <Empty title="Nobody is on site" />
      ) : (
        <BarList
          bars={sorted.map(({ project: { id, name }, onSite, fromEarlierDays }) => ({
            name,
            value: onSite,
            to: address('/attendance', { project: id }),
            children: (
              <>
                {fromEarlierDays > 0 && (
                  <Link className="badge warn" to={address('/attendance', { show: 'open', project: id })}>
                    {fromEarlierDays} from earlier days
                  </Link>
                )}{' '}
                <strong>{formatCount(onSite)}</strong>
              </>
            ),
          }))}
        />
      )}
    </Panel>
  );
}

function WorkersByDay({ counts }: { counts: Figures['attendanceByDay'] }) {
  const address = useAddress();
  return (
    <ChartPanel
      heading="Workers by day"
      summary="last four weeks"
      title="Workers on site by day"
      labelHeader="Day"
      unit="Workers"
      labels={counts.map(({ date }) => formatShortDay(date))}
      to={(index) => address('/attendance', { show: 'visits', date: counts[index]!.date })}
      series={[{ name: 'Workers', values: counts.map(({ workers }) => workers) }]}
      height={130}
    />
  );
}

function SignOns({ hours, date }: { hours: Figures['signOnsByHour']; date: string }) {
  const address = useAddress();
  const busy = hours.filter(({ signOns, typicalSignOns }) => signOns > 0 || typicalSignOns > 0).map(({ hour }) => hour);
  const shown = hours.slice(Math.min(USUAL[0], ...busy), Math.max(USUAL[1], ...busy) + 1);
  const labels = shown.map(({ hour }) => formatHour(hour));
  const weekday = formatCalendarDay(date).split(' ')[0];
  return (
    <ChartPanel
      heading="Sign-ons by hour"
      summary={`${formatCount(sum(hours.map(({ signOns }) => signOns)))} today`}
      title={`Sign-ons by hour, today and on a typical ${weekday}`}
      labelHeader="Hour"
      labels={labels}
      to={(index) => address('/attendance', { show: 'visits', date, hour: labels[index] })}
      series={[
        { name: 'Today', values: shown.map(({ signOns }) => signOns) },
        { name: `Typical ${weekday}`, values: shown.map(({ typicalSignOns }) => typicalSignOns), isMark: true },
      ]}
      unit="Sign-ons"
      height={240}
    />
  );
}
