import { DataTable } from '../../components/data-table.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager, usePageOffset } from '../../components/pager.tsx';
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
      offset: usePageOffset(),
    },
    { live: true },
  );
  const projects = useProjects(builderId);
  const opened = filters.get('report');
  return (
    <>
      <PageHead title="Photo reports" description="Walkthroughs that integrators have synced">
        <ProjectFilter projects={projects.data} />
        <SelectFilter name="state" label="State" options={[['archived', 'Archived']]} all="Active" />
      </PageHead>
      <section className="panel" aria-label="Photo reports">
        <Loaded request={request} lines={10}>
          {({ photoReports: { data, meta } }) => (
            <>
              <DataTable
                caption="Photo reports"
                empty={<Empty title="No reports match" />}
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
              <Pager {...meta} />
            </>
          )}
        </Loaded>
      </section>
      {opened && (
        <ReportDrawer builderId={builderId} photoReportId={opened} onClose={() => filters.set({ report: null })} />
      )}
    </>
  );
}
