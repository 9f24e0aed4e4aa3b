import { ProjectFilter, SearchFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { ReportsDocument } from '../../graphql/generated.ts';
import { useList } from '../../graphql/use-list.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatDay } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { ReportDrawer } from './report-drawer.tsx';

/** Photo reports that integrators synced. */
export default function ReportsPage() {
  const { id: builderId, timeZone } = useBuilder();
  const filters = useFilters();
  const chosen = {
    builderId,
    search: filters.get('search'),
    projectId: filters.get('project'),
    archived: filters.get('state') === 'archived',
  };
  const list = useList(ReportsDocument, chosen, 'CREATED', 'desc');
  return (
    <ListPage
      title="Photo reports"
      description="Walkthroughs that integrators have synced"
      filters={
        <>
          <SearchFilter name="search" label="Title" />
          <ProjectFilter />
          <SelectFilter name="state" label="State" options={[['archived', 'Archived']]} all="Active" />
        </>
      }
      {...list}
      page={({ findPhotoReports }) => findPhotoReports}
      empty="No reports match"
      opens="report"
      columns={[
        { header: 'Report', cell: ({ title }) => title },
        { header: 'Project', cell: ({ project }) => project?.name ?? <span className="soft">none</span> },
        { header: 'Author', cell: ({ sourceAuthor }) => sourceAuthor.name },
        { header: 'From', cell: ({ sourceApp }) => sourceApp },
        { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
        { header: 'Walkthrough', cell: (report) => formatDay(report.walkthroughDate, timeZone), nowrap: true },
        {
          header: 'First synced',
          cell: ({ createdAt }) => formatDay(createdAt, timeZone),
          nowrap: true,
          sort: 'CREATED',
        },
      ]}
      drawer={(id, close) => <ReportDrawer id={id} onClose={close} />}
    />
  );
}
