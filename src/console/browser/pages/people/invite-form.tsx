import { useState } from 'react';
import { BuilderPicker } from '../../components/builder-picker.tsx';
import { FormDialog } from '../../components/drawer.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { Restricted } from '../../components/notices.tsx';
import { type BuilderChoiceFragment, CreateUserDocument, type StaffRole } from '../../graphql/generated.ts';
import { useScope } from '../../shared/scope.tsx';
import { useForm } from '../../shared/use-form.ts';
import { MEMBER_ROLES } from './memberships.tsx';
import { PasswordLinkResult } from './password-link.tsx';

/** Employers of a person: a builder, or the operator with a role. */
const EMPLOYERS: readonly (readonly [StaffRole | '', string])[] = [
  ['', 'a builder'],
  ['VIEWER', 'us, as a viewer'],
  ['OPERATOR', 'us, as an operator'],
  ['ADMIN', 'us, as an administrator'],
];

/** Registers a person and makes the link with which the person chooses a password. */
export function InviteForm({ onClose }: { onClose: () => void }) {
  const { builder: shown, can } = useScope();
  const { values, bind } = useForm({ email: '', name: '', staffRole: '' as StaffRole | '', role: 'MEMBER' });
  const [builder, setBuilder] = useState<BuilderChoiceFragment | undefined>(shown);
  const { email, name, staffRole, role } = values;
  const employer = staffRole ? { staffRole } : { builderId: builder?.id, role };
  return (
    <FormDialog
      title="Invite a person"
      mutation={CreateUserDocument}
      variables={{ email, name, ...employer }}
      submit="Invite"
      result={({ createUser }) => <PasswordLinkResult link={createUser} />}
      onClose={onClose}
    >
      <TextField label="Name" maxLength={160} {...bind('name')} />
      <TextField label="E-mail" type="email" {...bind('email')} />
      {can('staff.created') && <SelectField label="Works for" options={EMPLOYERS} {...bind('staffRole')} />}
      {!staffRole && (
        <>
          <BuilderPicker label="Builder" value={builder?.name ?? ''} onChoose={setBuilder} />
          <SelectField label="Role" options={MEMBER_ROLES} {...bind('role')} />
        </>
      )}
      <Restricted action="staff.created" to="invite staff" />
    </FormDialog>
  );
}
