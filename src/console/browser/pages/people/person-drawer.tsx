import { useState } from 'react';
import { ActionButtons } from '../../components/action-buttons.tsx';
import { ActionForm } from '../../components/action-form.tsx';
import { Identifier } from '../../components/copy.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { EditConflict, Restricted } from '../../components/notices.tsx';
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
import { useRequest } from '../../graphql/use-request.ts';
import { useEdit, useVersion, type Version } from '../../graphql/use-version.ts';
import { formatEnum } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { useForm } from '../../shared/use-form.ts';
import { Memberships } from './memberships.tsx';
import { type Link, PasswordLinkResult } from './password-link.tsx';

const ROLES = ['VIEWER', 'OPERATOR', 'ADMIN'] as const satisfies StaffRole[];

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
  const version = useVersion(read, onChanged);
  const person = version.record;
  const kind = person.staffRole ? 'staff' : 'user';
  return (
    <>
      <Facts
        facts={[
          ['E-mail', person.email],
          ['Id', <Identifier key="id" id={person.id} />],
          ['Staff role', person.staffRole && formatEnum(person.staffRole)],
          ['Registered', <Instant key="at" at={person.createdAt} />],
          ['Disabled', person.disabledAt && <Instant key="off" at={person.disabledAt} />],
        ]}
      />
      {version.hasEditConflict && <EditConflict />}
      {!person.staffRole && <Memberships person={person} onChanged={onChanged} />}
      {can(`${kind}.updated`) && <DetailsForm version={version} />}
      <Restricted action={`${kind}.updated`} to={`change ${kind === 'staff' ? 'staff' : 'users'}`} />
      <PersonActions version={version} kind={kind} />
    </>
  );
}

/** Makes a link for choosing a password, disables and enables. */
function PersonActions({ version, kind }: { version: Version<PersonPartFragment>; kind: 'staff' | 'user' }) {
  const { can } = useScope();
  const action = useEdit(version);
  const [link, setLink] = useState<Link | null>(null);
  const { id, staffRole, hasPassword, disabledAt } = version.record;
  const makeLink = async () => {
    if (hasPassword) setLink((await action.run(ResetPasswordDocument, { id })).data?.resetPassword ?? null);
    else setLink((await action.run(InviteUserDocument, { id })).data?.inviteUser ?? null);
  };
  const enable = () => action.edit(EnableUserDocument, { id }, ({ enableUser }) => enableUser);
  const disable = () => action.edit(DisableUserDocument, { id }, ({ disableUser }) => disableUser);
  return (
    <>
      {link && <PasswordLinkResult link={link} />}
      <ActionButtons
        action={action}
        buttons={[
          !disabledAt &&
            can(staffRole ? 'staff.password_link_created' : 'password_link.created') && [
              hasPassword ? 'Make a link for a new password' : 'Invite again',
              makeLink,
            ],
          disabledAt !== null && can(`${kind}.enabled`) && ['Enable', enable],
          !disabledAt && can(`${kind}.disabled`) && ['Disable', disable, 'Sessions and tokens end within a second.'],
        ]}
      />
    </>
  );
}

function DetailsForm({ version }: { version: Version<PersonPartFragment> }) {
  const action = useEdit(version);
  const person = version.record;
  const { values, edits, bind, reset } = useForm({
    name: person.name,
    email: person.email,
    staffRole: person.staffRole,
  });
  const unchanged = Object.entries(values).every(([name, value]) => value === person[name as keyof typeof values]);
  const submit = async () => {
    const data = await action.edit(UpdateUserDocument, { id: person.id, ...edits }, ({ updateUser }) => updateUser);
    if (data) reset();
  };
  return (
    <ActionForm className="side" action={action} onSubmit={submit} submit="Save" primary={false} disabled={unchanged}>
      <h3>Details</h3>
      <TextField label="Name" {...bind('name')} />
      <TextField label="E-mail" type="email" {...bind('email')} />
      {values.staffRole && <SelectField label="Role" options={ROLES} {...bind('staffRole')} value={values.staffRole} />}
    </ActionForm>
  );
}
