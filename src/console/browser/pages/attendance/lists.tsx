import type { ComponentProps } from 'react';
import type { AnyVariables } from 'urql';
import { EVENT_NAMES, Instant } from '../../components/facts.tsx';
import { DayFilter, ProjectFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import {
  OpenConflictsDocument,
  OpenVisitsDocument,
  PendingSignOffsDocument,
  VisitsOfDayDocument,
} from '../../graphql/generated.ts';
import { usePageOffset } from '../../graphql/use-list.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatCalendarDay, formatDuration, formatHour, formatTime, toCalendarDate } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { useNow } from '../../shared/use-now.ts';
import { AttendanceTabs } from './attendance-tabs.tsx';
import { getDuration, isLong, LONG, type Visit } from './board-rows.ts';
import { ConflictDrawer } from './conflict-drawer.tsx';
import { PendingDrawer } from './pending-drawer.tsx';
import { VisitDrawer } from './visit-drawer.tsx';

/** Returns the variables of a list of the builder, or of the project in the URL. */
function useSite() {
  const { id: builderId } = useBuilder();
  const projectId = useFilters().get('project');
  return { builderId, projectId, ofProject: projectId !== undefined, offset: usePageOffset() };
}

/** A list of visits. */
function Visits<Data>(list: Omit<ComponentProps<typeof ListPage<Data, AnyVariables, Visit>>, 'columns'>) {
  const now = useNow();
  return (
    <ListPage
      {...list}
      opens="visit"
      columns={[
        { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Signed on', cell: ({ signedOnAt }) => <Instant at={signedOnAt} /> },
        {
          header: 'For',
          cell: (visit) => (
            <>
              {formatDuration(getDuration(visit, now))}{' '}
              {isLong(visit, now) && <span className="badge warn">{LONG.toLowerCase()}</span>}
            </>
          ),
        },
      ]}
      drawer={(id, close, visit) =>
        visit && <VisitDrawer key={id} visit={visit} onClose={close} onChanged={list.request.retry} />
      }
    >
      <AttendanceTabs />
    </ListPage>
  );
}

const HOURS = Array.from({ length: 24 }, (_, hour) => formatHour(hour));

/** Visits that began on a day, or in one hour of it, of all projects or of the one in the URL. */
export function VisitList() {
  const filters = useFilters();
  const { id: builderId, timeZone } = useBuilder();
  const today = toCalendarDate(useNow(), timeZone);
  const date = filters.get('date') ?? today;
  const hour = filters.get('hour')?.slice(0, 2) ?? '';
  const variables = { builderId, projectId: filters.get('project'), date };
  const request = useRequest(VisitsOfDayDocument, variables, { live: true });
  const isShown = ({ signedOnAt }: Visit) => formatTime(signedOnAt, timeZone).startsWith(hour);
  return (
    <Visits
      title="Visits"
      description={`Those that began on ${formatCalendarDay(date)}`}
      filters={
        <>
          <ProjectFilter />
          <DayFilter name="date" label="Day" fallback={today} max={today} />
          <SelectFilter name="hour" label="Hour" options={HOURS} />
        </>
      }
      request={request}
      page={({ visitsOfDay }) => ({ data: visitsOfDay.filter(isShown), meta: {} })}
      empty="Nobody signed on"
    />
  );
}

/** Visits that have not ended, whenever they began, of all projects or of the one in the URL. */
export function OpenVisitList() {
  const request = useRequest(OpenVisitsDocument, useSite(), { live: true });
  return (
    <Visits
      title="Open visits"
      description="Workers who have signed on and not off, also on earlier days"
      filters={<ProjectFilter />}
      request={request}
      page={({ builder, project }) => (builder ?? project)!.openVisits}
      empty="Nobody is on site"
    />
  );
}

/** Sign-offs that wait for their sign-on, of all projects or of the one in the URL. */
export function PendingList() {
  const request = useRequest(PendingSignOffsDocument, useSite(), { live: true });
  return (
    <ListPage
      title="Sign-offs without sign-on"
      description="They are applied when their sign-on arrives"
      filters={<ProjectFilter />}
      request={request}
      page={({ builder, project }) => (builder ?? project)!.pendingSignOffs}
      empty="No sign-off waits"
      opens="pending"
      columns={[
        { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Left at', cell: ({ occurredAt }) => <Instant at={occurredAt} /> },
        { header: 'Gate', cell: ({ deviceId }) => deviceId },
        { header: 'Integrator', cell: ({ integrator }) => integrator.name },
      ]}
      drawer={(id, close, event) =>
        event && <PendingDrawer key={id} event={event} onClose={close} onChanged={request.retry} />
      }
    >
      <AttendanceTabs />
    </ListPage>
  );
}

/** Conflicts of all projects or of the one in the URL. */
export function ConflictList() {
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const state = filters.get('state') === 'RESOLVED' ? 'RESOLVED' : 'OPEN';
  const after = filters.get('after') ?? null;
  const projectId = filters.get('project');
  const request = useRequest(OpenConflictsDocument, { builderId, projectId, state, after }, { live: true });
  return (
    <ListPage
      title="Conflicts of attendance"
      description="Events of gates that contradict what is recorded"
      filters={
        <>
          <ProjectFilter />
          <SelectFilter name="state" label="State" options={['OPEN', 'RESOLVED']} fallback="OPEN" />
        </>
      }
      name="Conflicts"
      request={request}
      page={({ conflicts }) => conflicts}
      empty={state === 'OPEN' ? 'Every conflict is resolved' : 'Nothing was resolved yet'}
      opens="conflict"
      columns={[
        { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Event', cell: ({ type }) => EVENT_NAMES[type], nowrap: true },
        { header: 'At', cell: ({ occurredAt }) => <Instant seconds at={occurredAt} /> },
        { header: 'Why', cell: ({ description }) => description },
        { header: 'Integrator', cell: ({ integrator }) => integrator.name },
      ]}
      drawer={(id, close) => (
        <ConflictDrawer id={id} onClose={close} others={state === 'OPEN' ? (request.data?.conflicts.data ?? []) : []} />
      )}
    >
      <AttendanceTabs />
    </ListPage>
  );
}
