import { SearchFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { WorkersDocument, type WorkersQuery } from '../../graphql/generated.ts';
import { useList } from '../../graphql/use-list.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatCount, formatDay } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { WorkerDrawer } from './worker-drawer.tsx';

type Worker = WorkersQuery['findWorkers']['data'][number];

const listProjects = ({ inductions }: Worker) => [...new Set(inductions.data.map(({ project }) => project.name))];

/** The people who work for a builder's subcontractors. */
export default function WorkersPage() {
  const { id: builderId, timeZone } = useBuilder();
  const search = useFilters().get('search');
  const list = useList(WorkersDocument, { builderId, search }, 'CREATED', 'desc');
  return (
    <ListPage
      title="Workers"
      description="Of all subcontractors"
      filters={<SearchFilter name="search" label="Worker" />}
      {...list}
      page={({ findWorkers }) => findWorkers}
      empty={search ? 'No worker has this name' : 'No workers'}
      opens="worker"
      columns={[
        { header: 'Worker', cell: ({ fullName }) => fullName, sort: 'NAME' },
        { header: 'Company', cell: ({ subcontractor }) => subcontractor?.name },
        { header: 'Projects', cell: (worker) => listProjects(worker).join(', ') },
        { header: 'Inductions', cell: ({ inductions }) => formatCount(inductions.meta.totalCount), number: true },
        { header: 'Visits', cell: ({ visits }) => formatCount(visits.meta.totalCount), number: true },
        {
          header: 'Last visit',
          cell: ({ visits }) => visits.data[0] && formatDay(visits.data[0].signedOnAt, timeZone),
          nowrap: true,
        },
        { header: 'Added', cell: ({ createdAt }) => formatDay(createdAt, timeZone), nowrap: true, sort: 'CREATED' },
      ]}
      drawer={(id, close) => <WorkerDrawer id={id} onClose={close} />}
    />
  );
}
