import { type FormEvent, useState } from 'react';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { Problem } from '../../components/problem.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { Loaded } from '../../components/states.tsx';
import {
  DisableUserDocument,
  EnableUserDocument,
  InviteUserDocument,
  OnePersonDocument,
  type PersonPartFragment,
  ResetPasswordDocument,
  type StaffRole,
  UpdateUserDocument,
} from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { formatEnum } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { Overtaken } from '../integrations/overtaken.tsx';
import { Memberships } from './memberships.tsx';
import { type Link, PasswordLinkResult } from './password-link.tsx';

/** A user: details, memberships, password and state. */
export function PersonDrawer({ user, onClose }: { user: string; onClose: () => void }) {
  const request = useRequest(OnePersonDocument, { user });
  return (
    <Drawer title={request.data?.person.name ?? 'Person'} onClose={onClose}>
      <Loaded request={request}>
        {({ person }) => <PersonContent key={person.updatedAt} person={person} onChanged={request.retry} />}
      </Loaded>
    </Drawer>
  );
}

function PersonContent({ person, onChanged }: { person: PersonPartFragment; onChanged: () => void }) {
  const { can } = useScope();
  const invite = useAction(InviteUserDocument);
  const reset = useAction(ResetPasswordDocument);
  const disable = useAction(DisableUserDocument);
  const enable = useAction(EnableUserDocument);
  const [link, setLink] = useState<Link | null>(null);
  const [overtaken, setOvertaken] = useState(false);
  const of = person.staffRole ? 'staff' : 'user';
  const version = { id: person.id, expectedUpdatedAt: person.updatedAt };
  const finish = ({ overtaken: late }: { overtaken: boolean }) => {
    setOvertaken(late);
    onChanged();
  };
  const mayLink = can(person.staffRole ? 'staff.password_link_created' : 'password_link.created');
  return (
    <>
      <Facts
        facts={[
          ['E-mail', person.email],
          ['Id', <code key="id">{person.id}</code>],
          ['Staff role', person.staffRole && formatEnum(person.staffRole)],
          ['Registered', <Instant key="at" at={person.createdAt} />],
          ['Disabled', person.disabledAt && <Instant key="off" at={person.disabledAt} />],
        ]}
      />
      {overtaken && <Overtaken />}
      {!person.staffRole && <Memberships person={person} onChanged={onChanged} />}
      {can(`${of}.updated`) && <DetailsForm person={person} onFinished={finish} />}
      <Restricted action={`${of}.updated`} to={`change ${of === 'staff' ? 'staff' : 'users'}`} />
      {link && <PasswordLinkResult link={link} />}
      <Problem error={invite.error ?? reset.error ?? disable.error ?? enable.error} />
      <div className="actions">
        {mayLink && !person.disabledAt && (
          <button
            type="button"
            onClick={async () => {
              if (person.hasPassword) setLink((await reset.run({ id: person.id })).data?.resetPassword ?? null);
              else setLink((await invite.run({ id: person.id })).data?.inviteUser ?? null);
            }}
          >
            {person.hasPassword ? 'Make a link for a new password' : 'Invite again'}
          </button>
        )}
        {person.disabledAt
          ? can(`${of}.enabled`) && (
              <button type="button" onClick={async () => finish(await enable.run(version))}>
                Enable
              </button>
            )
          : can(`${of}.disabled`) && (
              <ConfirmButton
                label="Disable"
                effect="Sessions and tokens end within a second."
                onConfirm={async () => finish(await disable.run(version))}
              />
            )}
      </div>
    </>
  );
}

interface DetailsProps {
  person: PersonPartFragment;
  onFinished: (outcome: { overtaken: boolean }) => void;
}

function DetailsForm({ person, onFinished }: DetailsProps) {
  const action = useAction(UpdateUserDocument);
  const [name, setName] = useState(person.name);
  const [email, setEmail] = useState(person.email);
  const [staffRole, setStaffRole] = useState(person.staffRole);
  const unchanged = name === person.name && email === person.email && staffRole === person.staffRole;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const changes = { name, email, staffRole: staffRole ?? undefined };
    const outcome = await action.run({ id: person.id, ...changes, expectedUpdatedAt: person.updatedAt });
    if (outcome.data || outcome.overtaken) onFinished(outcome);
  };
  return (
    <form className="side" onSubmit={submit}>
      <h3>Details</h3>
      <label className="field">
        Name
        <input required value={name} onChange={({ target }) => setName(target.value)} />
      </label>
      <label className="field">
        E-mail
        <input type="email" required value={email} onChange={({ target }) => setEmail(target.value)} />
      </label>
      {person.staffRole && (
        <label className="field">
          Role
          <select value={staffRole ?? ''} onChange={({ target }) => setStaffRole(target.value as StaffRole)}>
            {(['VIEWER', 'OPERATOR', 'ADMIN'] as const).map((role) => (
              <option key={role} value={role}>
                {formatEnum(role)}
              </option>
            ))}
          </select>
        </label>
      )}
      <Problem error={action.error} />
      <div className="actions">
        <button type="submit" disabled={action.running || unchanged}>
          Save
        </button>
      </div>
    </form>
  );
}
