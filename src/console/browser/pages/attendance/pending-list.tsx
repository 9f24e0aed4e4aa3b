import { DataTable } from '../../components/data-table.tsx';
import { Instant } from '../../components/facts.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager, usePageOffset } from '../../components/pager.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { PendingSignOffsDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { PendingDrawer } from './pending-drawer.tsx';

/** Sign-offs of all projects of the builder that wait for their sign-on. */
export function PendingList() {
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const offset = usePageOffset();
  const request = useRequest(PendingSignOffsDocument, { builderId, offset }, { live: true });
  const opened = filters.get('pending');
  return (
    <>
      <PageHead title="Sign-offs without sign-on" description="They are applied when their sign-on arrives" />
      <section className="panel">
        <Loaded request={request}>
          {({ builder: { pendingSignOffs } }) => {
            const { data, meta } = pendingSignOffs;
            const event = data.find(({ id }) => id === opened);
            return (
              <>
                <DataTable
                  caption="Sign-offs without sign-on"
                  empty={<Empty title="No sign-off waits" />}
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
                <Pager {...meta} />
                {event && <PendingDrawer event={event} onClose={() => filters.set({ pending: null })} />}
              </>
            );
          }}
        </Loaded>
      </section>
    </>
  );
}
