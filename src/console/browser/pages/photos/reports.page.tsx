import { ProjectFilter, SearchFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { usePageOffset } from '../../components/pager.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { type PhotoReportSort, ReportsDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters, useOrder } from '../../shared/filters.ts';
import { formatDay } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { ReportDrawer } from './report-drawer.tsx';

/** Photo reports that integrators synced. */
export default function ReportsPage() {
  const { id: builderId, timeZone } = useBuilder();
  const filters = useFilters();
  const order = useOrder<PhotoReportSort>('CREATED', 'desc');
  const variables = {
    builderId,
    search: filters.get('search'),
    ...order,
    projectId: filters.get('project'),
    archived: filters.get('state') === 'archived',
    offset: usePageOffset(),
  };
  const request = useRequest(ReportsDocument, variables, { live: true });
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
      request={request}
      page={({ findPhotoReports }) => findPhotoReports}
      order={order}
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
      drawer={(id, close) => <ReportDrawer builderId={builderId} photoReportId={id} onClose={close} />}
    />
  );
}
