import { DataTable, Pager } from '../../components/data-table.tsx';
import { Instant } from '../../components/facts.tsx';
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

const PAGE_SIZE = 25;

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
  const offset = (Number(filters.get('page') ?? 1) - 1) * PAGE_SIZE;
  const query = projectId
    ? ([OpenVisitsOfProjectDocument, { builderId, projectId, offset }] as const)
    : ([OpenVisitsDocument, { builderId, offset }] as const);
  const request = useRequest(...(query as Query), { live: true });
  const projects = useProjects(builderId);
  const opened = filters.get('visit');
  const setVisit = (visit: string | null) => filters.set({ visit, page: filters.get('page') });
  return (
    <>
      <div className="page-head">
        <div>
          <h1>Open visits</h1>
          <p>Workers who have signed on and not off, also on earlier days</p>
        </div>
        <ProjectFilter projects={projects.data} />
      </div>
      <section className="panel">
        <Loaded request={request}>
          {({ site: { openVisits } }) => {
            const { data, meta } = openVisits;
            const visit = data.find(({ id }) => id === opened);
            if (data.length === 0) return <Empty title="Nobody is on site" />;
            return (
              <>
                <DataTable
                  caption="Open visits"
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
                <Pager
                  offset={meta.offset}
                  limit={meta.limit}
                  total={meta.totalCount}
                  onPage={(page) => filters.set({ page: String(page) })}
                />
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
