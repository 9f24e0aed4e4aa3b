import { CursorPager } from '../../components/cursor-pager.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { EVENT_NAMES, Instant } from '../../components/facts.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { OpenConflictsDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { ConflictDrawer } from './conflict-drawer.tsx';

/** Conflicts of all projects of the builder. */
export function ConflictList() {
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const resolved = filters.get('state') === 'RESOLVED';
  const after = filters.get('after') ?? null;
  const state = resolved ? 'RESOLVED' : 'OPEN';
  const request = useRequest(OpenConflictsDocument, { builderId, state, after }, { live: true });
  const open = filters.get('conflict');
  return (
    <>
      <PageHead title="Conflicts of attendance" description="Events of gates that contradict what is recorded">
        <label className="field">
          State
          <select value={state} onChange={({ target }) => filters.set({ state: target.value, conflict: null })}>
            <option value="OPEN">Open</option>
            <option value="RESOLVED">Resolved</option>
          </select>
        </label>
      </PageHead>
      <section className="panel">
        <Loaded request={request}>
          {({ conflicts: { data, meta } }) => (
            <>
              <DataTable
                caption="Conflicts"
                empty={<Empty title={resolved ? 'Nothing was resolved yet' : 'Every conflict is resolved'} />}
                rows={data}
                rowKey={({ id }) => id}
                selected={open}
                onOpen={({ id }) => filters.set({ conflict: id })}
                columns={[
                  { header: 'Worker', cell: ({ worker }) => worker.fullName, nowrap: true },
                  { header: 'Project', cell: ({ project }) => project.name },
                  { header: 'Event', cell: ({ type }) => EVENT_NAMES[type], nowrap: true },
                  { header: 'At', cell: ({ occurredAt }) => <Instant at={occurredAt} /> },
                  { header: 'Why', cell: ({ description }) => description },
                  { header: 'Integrator', cell: ({ integrator }) => integrator.name },
                ]}
              />
              <CursorPager next={meta.nextCursor} label="Pages" texts={['Newest', 'Older']} />
            </>
          )}
        </Loaded>
      </section>
      {open && <ConflictDrawer id={open} onClose={() => filters.set({ conflict: null })} />}
    </>
  );
}
