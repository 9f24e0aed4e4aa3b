import { type FormEvent, useState } from 'react';
import { BuilderPicker } from '../../components/builder-picker.tsx';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Problem } from '../../components/problem.tsx';
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
  const add = useAction(AddMembershipDocument);
  const remove = useAction(RemoveMembershipDocument);
  const [place, setPlace] = useState<BuilderChoiceFragment>();
  const [role, setRole] = useState('MEMBER');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!place) return;
    const { data } = await add.run({ userId: person.id, builderId: place.id, role });
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
                disabled={remove.running}
                onConfirm={async () => {
                  const { data } = await remove.run({ userId: person.id, builderId: membership.builderId });
                  if (data) onChanged();
                }}
              />
            )}
          </li>
        ))}
      </ul>
      {can('membership.created') && (
        <form className="filters" onSubmit={submit}>
          <BuilderPicker
            label="Builder"
            value={place?.name ?? ''}
            excluded={person.memberships.map((membership) => membership.builderId)}
            onChoose={setPlace}
          />
          <label className="field">
            Role
            <input required maxLength={60} value={role} onChange={({ target }) => setRole(target.value)} />
          </label>
          <button type="submit" disabled={add.running || !place}>
            Add
          </button>
        </form>
      )}
      <Problem error={add.error ?? remove.error} />
    </section>
  );
}
