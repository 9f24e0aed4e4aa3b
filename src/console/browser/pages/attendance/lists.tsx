import { EVENT_NAMES, Instant } from '../../components/facts.tsx';
import { ProjectFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { usePageOffset } from '../../components/pager.tsx';
import {
  OpenConflictsDocument,
  OpenVisitsDocument,
  OpenVisitsOfProjectDocument,
  type OpenVisitsQueryVariables,
  PendingSignOffsDocument,
} from '../../graphql/generated.ts';
import { useProjects } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatDuration, toCalendarDate } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { useNow } from '../../shared/use-now.ts';
import { ConflictDrawer } from './conflict-drawer.tsx';
import { PendingDrawer } from './pending-drawer.tsx';
import { VisitDrawer } from './visit-drawer.tsx';

/** Both queries return the same fields. */
type OpenVisitsRequest = readonly [typeof OpenVisitsDocument, OpenVisitsQueryVariables];

/** Visits that have not ended, whenever they began, of all projects or of the one in the URL. */
export function OpenVisitList() {
  const { id: builderId, timeZone } = useBuilder();
  const now = useNow();
  const today = toCalendarDate(now, timeZone);
  const projectId = useFilters().get('project');
  const offset = usePageOffset();
  const query = projectId
    ? ([OpenVisitsOfProjectDocument, { builderId, projectId, offset }] as const)
    : ([OpenVisitsDocument, { builderId, offset }] as const);
  const request = useRequest(...(query as OpenVisitsRequest), { live: true });
  const projects = useProjects(builderId);
  return (
    <ListPage
      title="Open visits"
      description="Workers who have signed on and not off, also on earlier days"
      filters={<ProjectFilter projects={projects.data} />}
      request={request}
      page={({ site }) => site.openVisits}
      empty="Nobody is on site"
      opens="visit"
      columns={[
        { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Signed on', cell: ({ signedOnAt }) => <Instant at={signedOnAt} /> },
        {
          header: 'For',
          cell: ({ signedOnAt }) => (
            <>
              {formatDuration(now - Date.parse(signedOnAt))}{' '}
              {toCalendarDate(signedOnAt, timeZone) < today && <span className="badge warn">from an earlier day</span>}
            </>
          ),
          nowrap: true,
        },
      ]}
      drawer={(id, close, visit) =>
        visit && <VisitDrawer key={id} visit={visit} now={now} onClose={close} onChanged={request.retry} />
      }
    />
  );
}

/** Sign-offs of all projects of the builder that wait for their sign-on. */
export function PendingList() {
  const { id: builderId } = useBuilder();
  const offset = usePageOffset();
  const request = useRequest(PendingSignOffsDocument, { builderId, offset }, { live: true });
  return (
    <ListPage
      title="Sign-offs without sign-on"
      description="They are applied when their sign-on arrives"
      request={request}
      page={({ builder }) => builder.pendingSignOffs}
      empty="No sign-off waits"
      opens="pending"
      columns={[
        { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Left at', cell: ({ occurredAt }) => <Instant at={occurredAt} /> },
        { header: 'Gate', cell: ({ deviceId }) => deviceId },
        { header: 'Integrator', cell: ({ integrator }) => integrator.name },
      ]}
      drawer={(_, close, event) => event && <PendingDrawer event={event} onClose={close} />}
    />
  );
}

/** Conflicts of all projects of the builder. */
export function ConflictList() {
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const state = filters.get('state') === 'RESOLVED' ? 'RESOLVED' : 'OPEN';
  const after = filters.get('after') ?? null;
  const request = useRequest(OpenConflictsDocument, { builderId, state, after }, { live: true });
  return (
    <ListPage
      title="Conflicts of attendance"
      description="Events of gates that contradict what is recorded"
      filters={<SelectFilter name="state" label="State" options={['OPEN', 'RESOLVED']} fallback="OPEN" />}
      name="Conflicts"
      request={request}
      page={({ conflicts }) => conflicts}
      empty={state === 'OPEN' ? 'Every conflict is resolved' : 'Nothing was resolved yet'}
      opens="conflict"
      pagerTexts={['Newest', 'Older']}
      columns={[
        { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Event', cell: ({ type }) => EVENT_NAMES[type], nowrap: true },
        { header: 'At', cell: ({ occurredAt }) => <Instant at={occurredAt} /> },
        { header: 'Why', cell: ({ description }) => description },
        { header: 'Integrator', cell: ({ integrator }) => integrator.name },
      ]}
      drawer={(id, close) => <ConflictDrawer id={id} onClose={close} />}
    />
  );
}
