import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { BuilderPicker } from '../../components/builder-picker.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { type BuilderChoiceFragment, CreateUserDocument, type StaffRole } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { useScope } from '../../shared/scope.tsx';
import { type Link, PasswordLinkResult } from './password-link.tsx';

/** Registers a person and makes the link with which the person chooses a password. */
export function InviteForm({ onClose }: { onClose: () => void }) {
  const { builder, can } = useScope();
  const action = useAction(CreateUserDocument);
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [staffRole, setStaffRole] = useState<StaffRole | ''>('');
  const [place, setPlace] = useState<BuilderChoiceFragment | undefined>(builder);
  const [role, setRole] = useState('MEMBER');
  const [link, setLink] = useState<Link | null>(null);
  const submit = async () => {
    const target = staffRole ? { staffRole } : { builderId: place?.id, role };
    const { data } = await action.run({ email, name, ...target });
    if (data) setLink(data.createUser);
  };
  if (link)
    return (
      <Drawer title={name} kind="box" onClose={onClose}>
        <PasswordLinkResult link={link} />
        <div className="actions">
          <button type="button" className="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Drawer>
    );
  return (
    <Drawer title="Invite a person" kind="box" onClose={onClose}>
      <ActionForm action={action} onSubmit={submit} submit="Invite">
        <label className="field">
          Name
          <input required maxLength={160} value={name} onChange={({ target }) => setName(target.value)} />
        </label>
        <label className="field">
          E-mail
          <input type="email" required value={email} onChange={({ target }) => setEmail(target.value)} />
        </label>
        {can('staff.created') && (
          <label className="field">
            Works for
            <select value={staffRole} onChange={({ target }) => setStaffRole(target.value as StaffRole | '')}>
              <option value="">a builder</option>
              <option value="VIEWER">us, as a viewer</option>
              <option value="OPERATOR">us, as an operator</option>
              <option value="ADMIN">us, as an administrator</option>
            </select>
          </label>
        )}
        {!staffRole && (
          <>
            <BuilderPicker label="Builder" value={place?.name ?? ''} onChoose={setPlace} />
            <label className="field">
              Role, in the builder's words
              <input required maxLength={60} value={role} onChange={({ target }) => setRole(target.value)} />
            </label>
          </>
        )}
        <Restricted action="staff.created" to="invite staff" />
      </ActionForm>
    </Drawer>
  );
}
