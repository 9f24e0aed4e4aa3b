import { DataTable, Pager } from '../../components/data-table.tsx';
import { Instant } from '../../components/facts.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { PendingSignOffsDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { PendingDrawer } from './pending-drawer.tsx';

const PAGE_SIZE = 25;

/** Sign-offs of all projects of the builder that wait for their sign-on. */
export function PendingList() {
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const offset = (Number(filters.get('page') ?? 1) - 1) * PAGE_SIZE;
  const request = useRequest(PendingSignOffsDocument, { builderId, offset }, { live: true });
  const opened = filters.get('pending');
  return (
    <>
      <div className="page-head">
        <div>
          <h1>Sign-offs without sign-on</h1>
          <p>They are applied when their sign-on arrives</p>
        </div>
      </div>
      <section className="panel">
        <Loaded request={request}>
          {({ builder: { pendingSignOffs } }) => {
            const { data, meta } = pendingSignOffs;
            const event = data.find(({ id }) => id === opened);
            if (data.length === 0) return <Empty title="No sign-off waits" />;
            return (
              <>
                <DataTable
                  caption="Sign-offs without sign-on"
                  rows={data}
                  rowKey={({ id }) => id}
                  selected={opened}
                  onOpen={({ id }) => filters.set({ pending: id })}
                  columns={[
                    { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
                    { header: 'Project', cell: ({ project }) => project.name },
                    { header: 'Left at', cell: ({ occurredAt }) => <Instant at={occurredAt} /> },
                    { header: 'Gate', cell: ({ deviceId }) => deviceId },
                    { header: 'Integrator', cell: ({ integrator }) => integrator.name },
                  ]}
                />
                <Pager
                  offset={meta.offset}
                  limit={meta.limit}
                  total={meta.totalCount}
                  onPage={(page) => filters.set({ page: String(page) })}
                />
                {event && <PendingDrawer event={event} onClose={() => filters.set({ pending: null })} />}
              </>
            );
          }}
        </Loaded>
      </section>
    </>
  );
}
