import { DataTable } from '../../components/data-table.tsx';
import { Instant } from '../../components/facts.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager, usePageOffset } from '../../components/pager.tsx';
import { ProjectFilter } from '../../components/project-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import {
  OpenVisitsDocument,
  OpenVisitsOfProjectDocument,
  type OpenVisitsQueryVariables,
} from '../../graphql/generated.ts';
import { useProjects } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatDuration, toCalendarDate } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { useNow } from '../../shared/use-now.ts';
import { VisitDrawer } from './visit-drawer.tsx';

/** Both queries return the same fields. */
type Query = readonly [typeof OpenVisitsDocument, OpenVisitsQueryVariables];

/** Visits that have not ended, whenever they began, of all projects or of the one in the URL. */
export function OpenVisitList() {
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const now = useNow();
  const { timeZone } = useScope();
  const today = toCalendarDate(now, timeZone);
  const projectId = filters.get('project');
  const offset = usePageOffset();
  const query = projectId
    ? ([OpenVisitsOfProjectDocument, { builderId, projectId, offset }] as const)
    : ([OpenVisitsDocument, { builderId, offset }] as const);
  const request = useRequest(...(query as Query), { live: true });
  const projects = useProjects(builderId);
  const opened = filters.get('visit');
  const setVisit = (visit: string | null) => filters.set({ visit });
  return (
    <>
      <PageHead title="Open visits" description="Workers who have signed on and not off, also on earlier days">
        <ProjectFilter projects={projects.data} />
      </PageHead>
      <section className="panel">
        <Loaded request={request}>
          {({ site: { openVisits } }) => {
            const { data, meta } = openVisits;
            const visit = data.find(({ id }) => id === opened);
            return (
              <>
                <DataTable
                  caption="Open visits"
                  empty={<Empty title="Nobody is on site" />}
                  rows={data}
                  rowKey={({ id }) => id}
                  selected={opened}
                  onOpen={({ id }) => setVisit(id)}
                  columns={[
                    { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
                    { header: 'Project', cell: ({ project }) => project.name },
                    { header: 'Signed on', cell: ({ signedOnAt }) => <Instant at={signedOnAt} /> },
                    {
                      header: 'For',
                      cell: ({ signedOnAt }) => (
                        <>
                          {formatDuration(now - Date.parse(signedOnAt))}{' '}
                          {toCalendarDate(signedOnAt, timeZone) < today && (
                            <span className="badge warn">from an earlier day</span>
                          )}
                        </>
                      ),
                      nowrap: true,
                    },
                  ]}
                />
                <Pager {...meta} />
                {visit && (
                  <VisitDrawer
                    key={visit.id}
                    visit={visit}
                    now={now}
                    onClose={() => setVisit(null)}
                    onChanged={request.retry}
                  />
                )}
              </>
            );
          }}
        </Loaded>
      </section>
    </>
  );
}
