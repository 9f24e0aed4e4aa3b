import { DataTable } from '../../components/data-table.tsx';
import { ExportButton } from '../../components/export-button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager, usePageOffset } from '../../components/pager.tsx';
import { ProjectFilter } from '../../components/project-filter.tsx';
import { SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { useUncachedClient } from '../../graphql/client.ts';
import { type InductionStatus, InductionsDocument } from '../../graphql/generated.ts';
import { readExportPage } from '../../graphql/read-export-page.ts';
import { useProjects } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatDay, formatEnum, toCalendarDate } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { INDUCTION_STATUSES, InductionChart } from './induction-chart.tsx';

const HEADER = ['Id', 'Number', 'Worker', 'Subcontractor', 'Project', 'Type', 'Status', 'Created', 'Changed'];

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
  const offset = usePageOffset();
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
      <PageHead title="Inductions" description="Introductions of workers to projects">
        <ProjectFilter projects={projects.data} />
        <SelectFilter name="status" label="Status" options={INDUCTION_STATUSES} />
        <ExportButton
          fileName={`inductions-${toCalendarDate(Date.now(), timeZone)}.csv`}
          header={HEADER}
          readPage={readPage}
        />
      </PageHead>
      <InductionChart builderId={builderId} projectId={projectId} />
      <section className="panel" aria-label="Inductions">
        <Loaded request={request} lines={12}>
          {({ inductions: { data, meta } }) => (
            <>
              <DataTable
                caption="Inductions"
                empty={<Empty title="No inductions match">Choose another project or status.</Empty>}
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
              <Pager {...meta} />
            </>
          )}
        </Loaded>
      </section>
    </>
  );
}
