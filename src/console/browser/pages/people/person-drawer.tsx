import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { EditConflict } from '../../components/edit-conflict.tsx';
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
import { useVersion } from '../../graphql/use-version.ts';
import { formatEnum } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { Memberships } from './memberships.tsx';
import { type Link, PasswordLinkResult } from './password-link.tsx';

/** A user: details, memberships, password and state. */
export function PersonDrawer({ user, onClose }: { user: string; onClose: () => void }) {
  const request = useRequest(OnePersonDocument, { user });
  return (
    <Drawer title={request.data?.person.name ?? 'Person'} onClose={onClose}>
      <Loaded request={request}>
        {({ person }) => <PersonContent key={person.id} person={person} onChanged={request.retry} />}
      </Loaded>
    </Drawer>
  );
}

function PersonContent({ person: read, onChanged }: { person: PersonPartFragment; onChanged: () => void }) {
  const { can } = useScope();
  const { record: person, expectedUpdatedAt, hasEditConflict, settle } = useVersion(read);
  const invite = useAction(InviteUserDocument);
  const reset = useAction(ResetPasswordDocument);
  const disable = useAction(DisableUserDocument);
  const enable = useAction(EnableUserDocument);
  const [link, setLink] = useState<Link | null>(null);
  const of = person.staffRole ? 'staff' : 'user';
  const version = { id: person.id, expectedUpdatedAt };
  const running = invite.running || reset.running || disable.running || enable.running;
  const finish = (changed: PersonPartFragment | undefined, isEditConflict: boolean) => {
    settle(changed, isEditConflict);
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
      {hasEditConflict && <EditConflict />}
      {!person.staffRole && <Memberships person={person} onChanged={onChanged} />}
      {can(`${of}.updated`) && (
        <DetailsForm person={person} expectedUpdatedAt={expectedUpdatedAt} onFinished={finish} />
      )}
      <Restricted action={`${of}.updated`} to={`change ${of === 'staff' ? 'staff' : 'users'}`} />
      {link && <PasswordLinkResult link={link} />}
      <Problem error={invite.error ?? reset.error ?? disable.error ?? enable.error} />
      <div className="actions">
        {mayLink && !person.disabledAt && (
          <button
            type="button"
            disabled={running}
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
              <button
                type="button"
                disabled={running}
                onClick={async () => {
                  const { data, isEditConflict } = await enable.run(version);
                  finish(data?.enableUser, isEditConflict);
                }}
              >
                Enable
              </button>
            )
          : can(`${of}.disabled`) && (
              <ConfirmButton
                label="Disable"
                effect="Sessions and tokens end within a second."
                disabled={running}
                onConfirm={async () => {
                  const { data, isEditConflict } = await disable.run(version);
                  finish(data?.disableUser, isEditConflict);
                }}
              />
            )}
      </div>
    </>
  );
}

interface DetailsProps {
  person: PersonPartFragment;
  expectedUpdatedAt: string;
  onFinished: (changed: PersonPartFragment | undefined, isEditConflict: boolean) => void;
}

function DetailsForm({ person, expectedUpdatedAt, onFinished }: DetailsProps) {
  const action = useAction(UpdateUserDocument);
  // Fields that are not edited show the record, which another person may change meanwhile.
  const [edits, setEdits] = useState<{ name?: string; email?: string; staffRole?: StaffRole }>({});
  const { name, email, staffRole } = { ...person, ...edits };
  const unchanged = name === person.name && email === person.email && staffRole === person.staffRole;
  const submit = async () => {
    const { data, isEditConflict } = await action.run({ id: person.id, ...edits, expectedUpdatedAt });
    if (data) setEdits({});
    if (data || isEditConflict) onFinished(data?.updateUser, isEditConflict);
  };
  return (
    <ActionForm className="side" action={action} onSubmit={submit} submit="Save" primary={false} disabled={unchanged}>
      <h3>Details</h3>
      <label className="field">
        Name
        <input required value={name} onChange={({ target }) => setEdits({ ...edits, name: target.value })} />
      </label>
      <label className="field">
        E-mail
        <input
          type="email"
          required
          value={email}
          onChange={({ target }) => setEdits({ ...edits, email: target.value })}
        />
      </label>
      {person.staffRole && (
        <label className="field">
          Role
          <select
            value={staffRole ?? ''}
            onChange={({ target }) => setEdits({ ...edits, staffRole: target.value as StaffRole })}
          >
            {(['VIEWER', 'OPERATOR', 'ADMIN'] as const).map((role) => (
              <option key={role} value={role}>
                {formatEnum(role)}
              </option>
            ))}
          </select>
        </label>
      )}
    </ActionForm>
  );
}
