import { type FormEvent, useState } from 'react';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Problem } from '../../components/problem.tsx';
import { AddMembershipDocument, type PersonPartFragment, RemoveMembershipDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { useScope } from '../../shared/scope.tsx';

/** The builders whose accounts a user is in. */
export function Memberships({ person, onChanged }: { person: PersonPartFragment; onChanged: () => void }) {
  const { builders, can } = useScope();
  const add = useAction(AddMembershipDocument);
  const remove = useAction(RemoveMembershipDocument);
  const free = builders.filter(({ id }) => person.memberships.every(({ builderId }) => builderId !== id));
  const [builderId, setBuilderId] = useState(free[0]?.id ?? '');
  const [role, setRole] = useState('MEMBER');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { data } = await add.run({ userId: person.id, builderId, role });
    if (data) onChanged();
  };
  return (
    <section className="side">
      <h3>Builders</h3>
      <ul className="stack">
        {person.memberships.map((membership) => (
          <li key={membership.builderId} className="actions">
            <span>
              {membership.builder.name} <span className="soft">{membership.role}</span>
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
      {can('membership.created') && free.length > 0 && (
        <form className="filters" onSubmit={submit}>
          <label className="field">
            Builder
            <select value={builderId} onChange={({ target }) => setBuilderId(target.value)}>
              {free.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label className="field">
            Role
            <input required value={role} onChange={({ target }) => setRole(target.value)} />
          </label>
          <button type="submit" disabled={add.running}>
            Add
          </button>
        </form>
      )}
      <Problem error={add.error ?? remove.error} />
    </section>
  );
}
