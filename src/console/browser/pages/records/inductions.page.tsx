import { useClient } from 'urql';
import { DataTable, Pager } from '../../components/data-table.tsx';
import { ExportButton } from '../../components/export-button.tsx';
import { SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { formatStatus, StatusBadge } from '../../components/status-badge.tsx';
import { type InductionStatus, InductionsDocument, ProjectChoiceDocument } from '../../graphql/generated.ts';
import { readExportPage } from '../../graphql/read-export-page.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatDay, formatEnum } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { InductionChart } from './induction-chart.tsx';

const STATUSES = ['WAITING_REVIEW', 'CHANGES_REQUESTED', 'REVIEWED'] as const satisfies InductionStatus[];
const HEADER = ['Id', 'Number', 'Worker', 'Subcontractor', 'Project', 'Type', 'Status', 'Created', 'Changed'];
const PAGE_SIZE = 25;

interface Choice {
  id: string;
  name: string;
}

export default function InductionsPage() {
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const projects = useRequest(ProjectChoiceDocument, { builderId });
  return (
    <Loaded request={projects}>
      {({ projects: { data } }) => {
        const project = data.find(({ id }) => id === filters.get('project')) ?? data[0];
        return project ? (
          <ProjectInductions projects={data} project={project} />
        ) : (
          <Empty title="No project is in progress" />
        );
      }}
    </Loaded>
  );
}

function ProjectInductions({ projects, project }: { projects: readonly Choice[]; project: Choice }) {
  const client = useClient();
  const { id: builderId } = useBuilder();
  const { timeZone } = useScope();
  const filters = useFilters();
  const status = filters.get('status') as InductionStatus | undefined;
  const chosen = { builderId, projectId: project.id, status };
  const offset = (Number(filters.get('page') ?? 1) - 1) * PAGE_SIZE;
  const request = useRequest(InductionsDocument, { ...chosen, offset }, { live: true });
  const readPage = async (cursor: string) => {
    const { projectInductions } = await readExportPage(client, InductionsDocument, { ...chosen, cursor });
    const rows = projectInductions.data.map((induction) => [
      ...[induction.id, induction.identifier, induction.worker.fullName, induction.subcontractor.name, project.name],
      ...[induction.type, induction.status, induction.createdAt, induction.updatedAt],
    ]);
    return { rows, nextCursor: projectInductions.meta.nextCursor };
  };
  return (
    <>
      <div className="page-head">
        <div>
          <h1>Inductions</h1>
          <p>{project.name}</p>
        </div>
        <div className="filters">
          <SelectFilter
            name="project"
            label="Project"
            fallback={project.id}
            options={projects.map(({ id, name }) => [id, name] as const)}
          />
          <SelectFilter
            name="status"
            label="Status"
            options={STATUSES.map((value) => [value, formatStatus(value)] as const)}
          />
          <ExportButton fileName={`inductions-${project.id}.csv`} header={HEADER} readPage={readPage} />
        </div>
      </div>
      <InductionChart builderId={builderId} projectId={project.id} />
      <section className="panel" aria-label="Inductions">
        <Loaded request={request} lines={12}>
          {({ projectInductions: { data, meta } }) =>
            data.length === 0 ? (
              <Empty title="No inductions match">Choose another project or status.</Empty>
            ) : (
              <>
                <DataTable
                  caption="Inductions"
                  rows={data}
                  rowKey={({ id }) => id}
                  columns={[
                    { header: 'Worker', cell: ({ worker }) => worker.fullName },
                    { header: 'Subcontractor', cell: ({ subcontractor }) => subcontractor.name },
                    { header: 'Type', cell: ({ type }) => formatEnum(type) },
                    { header: 'Status', cell: (induction) => <StatusBadge status={induction.status} /> },
                    { header: 'Changed', cell: ({ updatedAt }) => formatDay(updatedAt, timeZone) },
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
