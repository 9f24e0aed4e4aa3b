import { DataTable } from '../../components/data-table.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { OneWorkerDocument, type OneWorkerQuery } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { formatCount, formatDay } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';

/** A worker: the company, site access, inductions and the latest visits. */
export function WorkerDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const request = useRequest(OneWorkerDocument, { builderId: useBuilder().id, id }, { live: true });
  const worker = request.data?.findWorkers.data[0];
  return (
    <Drawer title={worker?.fullName ?? 'Worker'} onClose={onClose}>
      <Loaded request={request}>
        {() => (worker ? <Content {...worker} /> : <Empty title="This builder has no such worker" />)}
      </Loaded>
    </Drawer>
  );
}

type Worker = OneWorkerQuery['findWorkers']['data'][number];

function Content({ id, subcontractor, createdAt, siteAccess, inductions, visits }: Worker) {
  const { timeZone } = useBuilder();
  const project = { header: 'Project', cell: (row: { project: { name: string } }) => row.project.name };
  const sites = siteAccess.data.filter(({ revokedAt }) => !revokedAt).map((access) => access.project.name);
  return (
    <>
      <Facts
        facts={[
          ['Company', subcontractor?.name],
          ['Site access', sites.join(', ')],
          ['Added', formatDay(createdAt, timeZone)],
          ['Id', <code key="id">{id}</code>],
        ]}
      />
      <h3>Inductions ({formatCount(inductions.meta.totalCount)})</h3>
      <DataTable
        name="Inductions of the worker"
        empty="No inductions"
        rows={inductions.data}
        columns={[
          project,
          { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
          { header: 'Created', cell: (induction) => formatDay(induction.createdAt, timeZone), nowrap: true },
        ]}
      />
      <h3>Visits ({formatCount(visits.meta.totalCount)})</h3>
      <DataTable
        name="Latest visits of the worker"
        empty="No visits"
        rows={visits.data}
        columns={[
          project,
          { header: 'Signed on', cell: ({ signedOnAt }) => <Instant at={signedOnAt} /> },
          { header: 'Left', cell: ({ signedOffAt, closedAt }) => <Left at={signedOffAt ?? closedAt} /> },
        ]}
      />
    </>
  );
}

const Left = ({ at }: { at: string | null }) =>
  at ? <Instant at={at} /> : <span className="badge brand">On site</span>;
