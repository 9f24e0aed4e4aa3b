import { type FormEvent, useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { BuilderPicker } from '../../components/builder-picker.tsx';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Problem } from '../../components/states.tsx';
import {
  AddMembershipDocument,
  type BuilderChoiceFragment,
  type PersonPartFragment,
  RemoveMembershipDocument,
  UpdateMembershipDocument,
} from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { formatRole } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { useForm } from '../../shared/use-form.ts';

/** Roles that a membership offers. A role that an import brought stays until it is changed. */
export const MEMBER_ROLES = [
  'MEMBER',
  'ADMIN',
  'PROJECT_MANAGER',
  'SITE_MANAGER',
  'SAFETY_MANAGER',
  'FOREMAN',
  'ESTIMATOR',
];

/** Returns the roles to choose from, with the present one in its own words. */
const listRoles = (present: string) =>
  MEMBER_ROLES.includes(present) ? MEMBER_ROLES : [...MEMBER_ROLES, [present, present] as const];

/** The builders whose accounts a user is in. */
export function Memberships({ person, onChanged }: { person: PersonPartFragment; onChanged: () => void }) {
  const { can } = useScope();
  const { run, running, error } = useAction();
  const [chosen, setChosen] = useState<BuilderChoiceFragment>();
  const [role, setRole] = useState('MEMBER');
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (!chosen) return;
    const { data } = await run(AddMembershipDocument, { userId: person.id, builderId: chosen.id, role });
    if (data) onChanged();
  };
  const remove = async (builderId: string) => {
    const { data } = await run(RemoveMembershipDocument, { userId: person.id, builderId });
    if (data) onChanged();
  };
  return (
    <section className="side">
      <h3>Builders</h3>
      <ul className="stack">
        {person.memberships.map((membership) => (
          <li key={membership.builderId} className="filters">
            {can('membership.updated') ? (
              <RoleForm {...membership} userId={person.id} onChanged={onChanged} />
            ) : (
              <span>
                {membership.builder.name} <span className="soft">{formatRole(membership.role)}</span>
              </span>
            )}
            {can('membership.deleted') && (
              <ConfirmButton
                label="Remove"
                effect="Consents that the person gave for the builder end."
                disabled={running}
                onConfirm={() => remove(membership.builderId)}
              />
            )}
          </li>
        ))}
      </ul>
      {can('membership.created') && (
        <form className="filters" onSubmit={add}>
          <BuilderPicker
            label="Builder"
            value={chosen?.name ?? ''}
            excluded={person.memberships.map((membership) => membership.builderId)}
            onChoose={setChosen}
          />
          <SelectField label="Role" options={MEMBER_ROLES} value={role} onChange={setRole} />
          <button type="submit" disabled={running || !chosen}>
            Add
          </button>
        </form>
      )}
      <Problem error={error} />
    </section>
  );
}

type RoleProps = PersonPartFragment['memberships'][number] & { userId: string; onChanged: () => void };

/** The role of a membership, which can be changed. */
function RoleForm({ userId, builderId, builder, role, onChanged }: RoleProps) {
  const action = useAction();
  const { values, bind, isEdited, reset } = useForm({ role });
  const change = async () => {
    const { data } = await action.run(UpdateMembershipDocument, { userId, builderId, role: values.role });
    if (data) onChanged();
    reset();
  };
  return (
    <ActionForm className="filters" action={action} onSubmit={change} submit={isEdited && 'Change the role'}>
      <SelectField label={`Role at ${builder.name}`} options={listRoles(role)} {...bind('role')} />
    </ActionForm>
  );
}
