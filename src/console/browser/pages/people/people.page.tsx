import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Instant } from '../../components/facts.tsx';
import { BuilderFilter, SearchFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { PeopleDocument, type PeopleQuery } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters, useOrder } from '../../shared/filters.ts';
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
  const order = useOrder('CREATED', 'desc');
  const kind = filters.get('kind');
  const request = useRequest(PeopleDocument, {
    search: filters.get('search'),
    order: order.order,
    builderId: filters.get('of'),
    staff: kind === 'staff' ? true : kind === 'builders' ? false : undefined,
    disabled: kind === 'disabled' ? true : undefined,
    after: filters.get('after') ?? null,
  });
  const closeInvite = () => {
    setIsInviting(false);
    request.retry();
  };
  return (
    <ListPage
      title="People"
      description="Users of builders, and staff"
      filters={
        <>
          <SearchFilter name="search" label="Name or e-mail" />
          <SelectFilter name="kind" label="Kind" options={KINDS} />
          <BuilderFilter />
          {can('user.created') && (
            <Button className="primary" onClick={() => setIsInviting(true)}>
              Invite a person
            </Button>
          )}
        </>
      }
      request={request}
      page={({ people }) => people}
      empty="Nobody matches"
      opens="person"
      order={order}
      columns={[
        { header: 'Name', cell: ({ name }) => name, nowrap: true },
        { header: 'E-mail', cell: ({ email }) => email },
        { header: 'Role', cell: (person) => <Role {...person} /> },
        { header: 'Sign-in', cell: (person) => <SignInState {...person} /> },
        { header: 'Registered', cell: ({ createdAt }) => <Instant at={createdAt} />, sort: 'CREATED' },
      ]}
      drawer={(user, close) => <PersonDrawer user={user} onClose={close} />}
    >
      {isInviting && <InviteForm onClose={closeInvite} />}
    </ListPage>
  );
}

type Person = PeopleQuery['people']['data'][number];

const Role = ({ staffRole, memberships }: Person) =>
  staffRole ? (
    <span className="badge brand">Staff, {formatEnum(staffRole).toLowerCase()}</span>
  ) : (
    memberships.map(({ builder, role }) => `${builder.name}, ${formatRole(role)}`).join('; ')
  );

function SignInState({ hasPassword, disabledAt }: Person) {
  if (disabledAt) return <span className="badge bad">Disabled</span>;
  return hasPassword ? <span className="badge good">Active</span> : <span className="badge">No password yet</span>;
}
