import { Link } from 'react-router';
import { ProjectFilter, SearchFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { Loaded } from '../../components/states.tsx';
import { Stats } from '../../components/stats.tsx';
import { formatStatus, getTone, StatusBadge } from '../../components/status-badge.tsx';
import {
  InductionFiguresDocument,
  type InductionFiguresQueryVariables,
  type InductionStatus,
  InductionsDocument,
} from '../../graphql/generated.ts';
import { useList } from '../../graphql/use-list.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilteredAddress, useFilters } from '../../shared/filters.ts';
import { formatDay, formatEnum, toCalendarDate } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';

const STATUSES = ['WAITING_REVIEW', 'CHANGES_REQUESTED', 'REVIEWED'] as const satisfies InductionStatus[];

/** The inductions of all of a builder's projects. */
export default function InductionsPage() {
  const { id: builderId, timeZone } = useBuilder();
  const filters = useFilters();
  const status = filters.get('status') as InductionStatus | undefined;
  const projectId = filters.get('project');
  const chosen = { builderId, projectId, status, search: filters.get('search') };
  const list = useList(InductionsDocument, chosen, 'CREATED', 'desc');
  const address = useAddress();
  return (
    <ListPage
      title="Inductions"
      description="Introductions of workers to projects"
      filters={
        <>
          <SearchFilter name="search" label="Worker" />
          <ProjectFilter />
          <SelectFilter name="status" label="Status" options={STATUSES} />
        </>
      }
      {...list}
      page={({ findInductions }) => findInductions}
      opens="induction"
      file={{
        fileName: `inductions-${toCalendarDate(Date.now(), timeZone)}.csv`,
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
      hint="Choose another worker, project or status."
      columns={[
        { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
        { header: 'Project', cell: ({ project }) => project.name },
        { header: 'Subcontractor', cell: ({ subcontractor }) => subcontractor.name },
        { header: 'Type', cell: ({ type }) => formatEnum(type) },
        { header: 'Status', cell: (induction) => <StatusBadge status={induction.status} /> },
        { header: 'Created', cell: ({ createdAt }) => formatDay(createdAt, timeZone), nowrap: true, sort: 'CREATED' },
        { header: 'Number', cell: ({ identifier }) => identifier, number: true },
      ]}
      details={({ worker, updatedAt }) => [
        ['Changed', formatDay(updatedAt, timeZone)],
        [
          'Worker',
          <Link key="worker" to={address('/workers', { worker: worker.id })}>
            All inductions and visits
          </Link>,
        ],
      ]}
    >
      {!chosen.search && <InductionStats {...chosen} />}
    </ListPage>
  );
}

type StatsProps = InductionFiguresQueryVariables & { status: InductionStatus | undefined };

/** Inductions of the filters by status. */
function InductionStats({ builderId, projectId, status }: StatsProps) {
  const address = useFilteredAddress();
  const request = useRequest(InductionFiguresDocument, { builderId, projectId }, { live: true });
  return (
    <Loaded request={request} lines={2}>
      {({ inductionsByStatus }) => (
        <Stats
          name="Inductions by status"
          stats={STATUSES.filter((each) => !status || each === status).map((each) => ({
            count: inductionsByStatus.find((point) => point.status === each)?.inductions ?? 0,
            label: formatStatus(each),
            to: address({ status: each }),
            tone: getTone(each),
          }))}
        />
      )}
    </Loaded>
  );
}
