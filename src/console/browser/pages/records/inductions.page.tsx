import { DataTable, Pager } from '../../components/data-table.tsx';
import { ExportButton } from '../../components/export-button.tsx';
import { ProjectFilter } from '../../components/project-filter.tsx';
import { SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { formatStatus, StatusBadge } from '../../components/status-badge.tsx';
import { useUncachedClient } from '../../graphql/client.ts';
import { type InductionStatus, InductionsDocument } from '../../graphql/generated.ts';
import { readExportPage } from '../../graphql/read-export-page.ts';
import { useProjects } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatDay, formatEnum, toCalendarDate } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { InductionChart } from './induction-chart.tsx';

const STATUSES = ['WAITING_REVIEW', 'CHANGES_REQUESTED', 'REVIEWED'] as const satisfies InductionStatus[];
const HEADER = ['Id', 'Number', 'Worker', 'Subcontractor', 'Project', 'Type', 'Status', 'Created', 'Changed'];
const PAGE_SIZE = 25;

/** The inductions of all of a builder's projects. */
export default function InductionsPage() {
  const client = useUncachedClient();
  const { id: builderId } = useBuilder();
  const { timeZone } = useScope();
  const filters = useFilters();
  const status = filters.get('status') as InductionStatus | undefined;
  const projectId = filters.get('project');
  const projects = useProjects(builderId);
  const chosen = { builderId, projectId, status };
  const offset = (Number(filters.get('page') ?? 1) - 1) * PAGE_SIZE;
  const request = useRequest(InductionsDocument, { ...chosen, offset }, { live: true });
  const readPage = async (cursor: string) => {
    const { inductions } = await readExportPage(client, InductionsDocument, { ...chosen, cursor });
    const rows = inductions.data.map((induction) => [
      ...[induction.id, induction.identifier, induction.worker.fullName, induction.subcontractor.name],
      ...[induction.project.name, induction.type, induction.status, induction.createdAt, induction.updatedAt],
    ]);
    return { rows, nextCursor: inductions.meta.nextCursor };
  };
  return (
    <>
      <div className="page-head">
        <div>
          <h1>Inductions</h1>
          <p>Introductions of workers to projects</p>
        </div>
        <div className="filters">
          <ProjectFilter projects={projects.data} />
          <SelectFilter
            name="status"
            label="Status"
            options={STATUSES.map((value) => [value, formatStatus(value)] as const)}
          />
          <ExportButton
            fileName={`inductions-${toCalendarDate(Date.now(), timeZone)}.csv`}
            header={HEADER}
            readPage={readPage}
          />
        </div>
      </div>
      <InductionChart builderId={builderId} projectId={projectId} />
      <section className="panel" aria-label="Inductions">
        <Loaded request={request} lines={12}>
          {({ inductions: { data, meta } }) =>
            data.length === 0 ? (
              <Empty title="No inductions match">Choose another project or status.</Empty>
            ) : (
              <>
                <DataTable
                  caption="Inductions"
                  rows={data}
                  rowKey={({ id }) => id}
                  columns={[
                    { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
                    { header: 'Project', cell: ({ project }) => project.name },
                    { header: 'Subcontractor', cell: ({ subcontractor }) => subcontractor.name },
                    { header: 'Type', cell: ({ type }) => formatEnum(type) },
                    { header: 'Status', cell: (induction) => <StatusBadge status={induction.status} /> },
                    { header: 'Changed', cell: ({ updatedAt }) => formatDay(updatedAt, timeZone), nowrap: true },
                    { header: 'Number', cell: ({ identifier }) => identifier, number: true },
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
    </>
  );
}
