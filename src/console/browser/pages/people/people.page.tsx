import { useState } from 'react';
import { BuilderFilter } from '../../components/builder-picker.tsx';
import { CursorPager } from '../../components/cursor-pager.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SearchFilter } from '../../components/search-filter.tsx';
import { SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { PeopleDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatEnum, formatRole } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { InviteForm } from './invite-form.tsx';
import { PersonDrawer } from './person-drawer.tsx';

const KINDS = [
  ['staff', 'Staff'],
  ['builders', 'Of builders'],
  ['disabled', 'Disabled'],
] as const;

/** Users of builders and of the operator. */
export default function PeoplePage() {
  const { can } = useScope();
  const filters = useFilters();
  const [isInviting, setIsInviting] = useState(false);
  const kind = filters.get('kind');
  const request = useRequest(PeopleDocument, {
    email: filters.get('email'),
    builderId: filters.get('of'),
    staff: kind === 'staff' ? true : kind === 'builders' ? false : undefined,
    disabled: kind === 'disabled' ? true : undefined,
    after: filters.get('after') ?? null,
  });
  const opened = filters.get('person');
  return (
    <>
      <PageHead title="People" description="Users of builders, and staff">
        <SearchFilter name="email" label="E-mail" />
        <SelectFilter name="kind" label="Kind" options={KINDS} />
        <BuilderFilter />
        {can('user.created') && (
          <button type="button" className="primary" onClick={() => setIsInviting(true)}>
            Invite a person
          </button>
        )}
      </PageHead>
      <section className="panel" aria-label="People">
        <Loaded request={request} lines={12}>
          {({ people: { data, meta } }) => (
            <>
              <DataTable
                caption="People"
                empty={<Empty title="Nobody matches" />}
                rows={data}
                rowKey={({ id }) => id}
                selected={opened}
                onOpen={({ id }) => filters.set({ person: id })}
                columns={[
                  { header: 'Name', cell: ({ name }) => name, nowrap: true },
                  { header: 'E-mail', cell: ({ email }) => email, nowrap: true },
                  {
                    header: 'Role',
                    cell: ({ staffRole, memberships }) =>
                      staffRole ? (
                        <span className="badge brand">Staff, {formatEnum(staffRole).toLowerCase()}</span>
                      ) : (
                        memberships.map(({ builder, role }) => `${builder.name}, ${formatRole(role)}`).join('; ')
                      ),
                  },
                  {
                    header: 'Sign-in',
                    cell: ({ hasPassword, disabledAt }) =>
                      disabledAt ? (
                        <span className="badge bad">Disabled</span>
                      ) : hasPassword ? (
                        <span className="badge good">Active</span>
                      ) : (
                        <span className="badge">No password yet</span>
                      ),
                  },
                ]}
              />
              <CursorPager next={meta.nextCursor} label="Pages" />
            </>
          )}
        </Loaded>
      </section>
      {opened && <PersonDrawer user={opened} onClose={() => filters.set({ person: null })} />}
      {isInviting && (
        <InviteForm
          onClose={() => {
            setIsInviting(false);
            request.retry();
          }}
        />
      )}
    </>
  );
}
