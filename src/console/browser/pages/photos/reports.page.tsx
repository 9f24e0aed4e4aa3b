import { DataTable, Pager } from '../../components/data-table.tsx';
import { ProjectFilter } from '../../components/project-filter.tsx';
import { SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { ReportsDocument } from '../../graphql/generated.ts';
import { useProjects } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatDay } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { ReportDrawer } from './report-drawer.tsx';

const PAGE_SIZE = 25;

/** Photo reports that integrators synced. */
export default function ReportsPage() {
  const { id: builderId } = useBuilder();
  const { timeZone } = useScope();
  const filters = useFilters();
  const request = useRequest(
    ReportsDocument,
    {
      builderId,
      projectId: filters.get('project'),
      archived: filters.get('state') === 'archived',
      offset: (Number(filters.get('page') ?? 1) - 1) * PAGE_SIZE,
    },
    { live: true },
  );
  const projects = useProjects(builderId);
  const opened = filters.get('report');
  return (
    <>
      <div className="page-head">
        <div>
          <h1>Photo reports</h1>
          <p>Walkthroughs that integrators have synced</p>
        </div>
        <div className="filters">
          <ProjectFilter projects={projects.data} />
          <SelectFilter name="state" label="State" options={[['archived', 'Archived']]} all="Active" />
        </div>
      </div>
      <section className="panel" aria-label="Photo reports">
        <Loaded request={request} lines={10}>
          {({ photoReports: { data, meta } }) =>
            data.length === 0 ? (
              <Empty title="No reports match" />
            ) : (
              <>
                <DataTable
                  caption="Photo reports"
                  rows={data}
                  rowKey={({ id }) => id}
                  selected={opened}
                  onOpen={({ id }) => filters.set({ report: id })}
                  columns={[
                    { header: 'Report', cell: ({ title }) => title },
                    { header: 'Project', cell: ({ project }) => project?.name ?? <span className="soft">none</span> },
                    { header: 'Author', cell: ({ sourceAuthor }) => sourceAuthor.name },
                    { header: 'From', cell: ({ sourceApp }) => sourceApp },
                    { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
                    {
                      header: 'Walkthrough',
                      cell: ({ walkthroughDate }) => formatDay(walkthroughDate, timeZone),
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
              </>
            )
          }
        </Loaded>
      </section>
      {opened && (
        <ReportDrawer builderId={builderId} photoReportId={opened} onClose={() => filters.set({ report: null })} />
      )}
    </>
  );
}
