import { ChartPanel } from '../../components/bar-chart.tsx';
import { Button } from '../../components/button.tsx';
import { ProjectFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { usePageOffset } from '../../components/pager.tsx';
import { Loaded } from '../../components/states.tsx';
import { formatStatus, StatusBadge } from '../../components/status-badge.tsx';
import { InductionFiguresDocument, type InductionStatus, InductionsDocument } from '../../graphql/generated.ts';
import { useProjects } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatCount, formatDay, formatEnum, formatPlural, sum, toCalendarDate } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';

const STATUSES = ['WAITING_REVIEW', 'CHANGES_REQUESTED', 'REVIEWED'] as const satisfies InductionStatus[];

/** The inductions of all of a builder's projects. */
export default function InductionsPage() {
  const { id: builderId, timeZone } = useBuilder();
  const filters = useFilters();
  const status = filters.get('status') as InductionStatus | undefined;
  const projectId = filters.get('project');
  const projects = useProjects(builderId);
  const chosen = { builderId, projectId, status };
  const request = useRequest(InductionsDocument, { ...chosen, offset: usePageOffset() }, { live: true });
  return (
    <ListPage
      title="Inductions"
      description="Introductions of workers to projects"
      filters={
        <>
          <ProjectFilter projects={projects.data} />
          <SelectFilter name="status" label="Status" options={STATUSES} />
        </>
      }
      request={request}
      page={({ inductions }) => inductions}
      file={{
        fileName: `inductions-${toCalendarDate(Date.now(), timeZone)}.csv`,
        query: InductionsDocument,
        variables: chosen,
        columns: [
          ['Id', ({ id }) => id],
          ['Number', ({ identifier }) => identifier],
          ['Worker', ({ worker }) => worker.fullName],
          ['Subcontractor', ({ subcontractor }) => subcontractor.name],
          ['Project', ({ project }) => project.name],
          ['Type', ({ type }) => type],
          ['Status', (induction) => induction.status],
          ['Created', ({ createdAt }) => createdAt],
          ['Changed', ({ updatedAt }) => updatedAt],
        ],
      }}
      empty="No inductions match"
      hint="Choose another project or status."
      columns={[
        { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Subcontractor', cell: ({ subcontractor }) => subcontractor.name },
        { header: 'Type', cell: ({ type }) => formatEnum(type) },
        { header: 'Status', cell: (induction) => <StatusBadge status={induction.status} /> },
        { header: 'Changed', cell: ({ updatedAt }) => formatDay(updatedAt, timeZone), nowrap: true },
        { header: 'Number', cell: ({ identifier }) => identifier, number: true },
      ]}
    >
      <InductionChart builderId={builderId} projectId={projectId} />
    </ListPage>
  );
}

/** Inductions by status, each of which filters the list. */
function InductionChart({ builderId, projectId }: { builderId: string; projectId: string | undefined }) {
  const filters = useFilters();
  const request = useRequest(InductionFiguresDocument, { builderId, projectId }, { live: true });
  return (
    <Loaded request={request} lines={2}>
      {({ inductionsByStatus }) => {
        const counts = STATUSES.map(
          (status) => inductionsByStatus.find((point) => point.status === status)?.inductions ?? 0,
        );
        return (
          <div className="columns figures">
            <ChartPanel
              heading="Inductions by status"
              summary={formatPlural(sum(counts), 'induction')}
              title="Inductions by status"
              labelHeader="Status"
              unit="Inductions"
              labels={STATUSES.map(formatStatus)}
              series={[{ name: 'Inductions', values: counts }]}
              height={150}
            />
            <div className="stats column">
              {STATUSES.map((status, index) => (
                <Button key={status} className="stat" onClick={() => filters.set({ status })}>
                  <b className={status !== 'REVIEWED' && counts[index]! > 0 ? 'warn' : undefined}>
                    {formatCount(counts[index]!)}
                  </b>
                  <span>{formatStatus(status)}</span>
                </Button>
              ))}
            </div>
          </div>
        );
      }}
    </Loaded>
  );
}
