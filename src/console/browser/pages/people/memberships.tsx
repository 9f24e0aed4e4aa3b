import { type FormEvent, useState } from 'react';
import { BuilderPicker } from '../../components/builder-picker.tsx';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { TextField } from '../../components/fields.tsx';
import { Problem } from '../../components/states.tsx';
import {
  AddMembershipDocument,
  type BuilderChoiceFragment,
  type PersonPartFragment,
  RemoveMembershipDocument,
} from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { formatRole } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';

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
          <li key={membership.builderId} className="actions">
            <span>
              {membership.builder.name} <span className="soft">{formatRole(membership.role)}</span>
            </span>
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
          <TextField label="Role" maxLength={60} value={role} onChange={setRole} />
          <button type="submit" disabled={running || !chosen}>
            Add
          </button>
        </form>
      )}
      <Problem error={error} />
    </section>
  );
}
