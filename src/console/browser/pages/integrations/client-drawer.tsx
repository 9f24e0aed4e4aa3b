import { type FormEvent, useState } from 'react';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { EditConflict } from '../../components/edit-conflict.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { Problem } from '../../components/problem.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { SecretBox } from '../../components/secret-box.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import {
  type ClientPartFragment,
  DisableClientDocument,
  EnableClientDocument,
  RotateClientSecretDocument,
  UpdateClientDocument,
} from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { useVersion } from '../../graphql/use-version.ts';
import { formatEnum } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { ClientFields, type ClientValues, toClientUpdate, toClientValues } from './client-fields.tsx';

interface Props {
  client: ClientPartFragment;
  onClose: () => void;
  /** Reads the client again. */
  onChanged: () => void;
}

/** An OAuth client: its properties, secrets and state. */
export function ClientDrawer({ client: read, onClose, onChanged }: Props) {
  const { can } = useScope();
  const { record: client, expectedUpdatedAt, hasEditConflict, settle } = useVersion(read);
  // Fields that are not edited show the record, which another person may change meanwhile.
  const [edits, setEdits] = useState<Partial<ClientValues>>({});
  const [secret, setSecret] = useState<string | null>(null);
  const update = useAction(UpdateClientDocument);
  const rotate = useAction(RotateClientSecretDocument);
  const disable = useAction(DisableClientDocument);
  const enable = useAction(EnableClientDocument);
  const version = { id: client.id, expectedUpdatedAt };
  const running = update.running || rotate.running || disable.running || enable.running;
  const accept = (changed: ClientPartFragment | undefined, isEditConflict: boolean) => {
    settle(changed, isEditConflict);
    if (isEditConflict) onChanged();
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const { data, isEditConflict } = await update.run({ ...version, ...toClientUpdate(edits) });
    accept(data?.updateClient, isEditConflict);
    if (data) setEdits({});
  };
  const newSecret = async () => {
    const { data, isEditConflict } = await rotate.run(version);
    accept(data?.rotateClientSecret.client, isEditConflict);
    setSecret(data?.rotateClientSecret.secret ?? null);
  };
  const stored = toClientValues(client);
  const present = (Object.keys(edits) as (keyof ClientValues)[]).map((key) => String(stored[key]) || 'none').join('; ');
  return (
    <Drawer title={client.name} onClose={onClose}>
      <div className="actions">
        <StatusBadge status={client.disabledAt ? 'DISABLED' : 'ACTIVE'} />
        <span className="badge">{formatEnum(client.type)}</span>
      </div>
      <Facts
        facts={[
          ['client_id', <code key="id">{client.id}</code>],
          ['Grants', client.grants.join(', ')],
          ['Registered', <Instant key="at" at={client.createdAt} />],
          ['Disabled', client.disabledAt && <Instant key="off" at={client.disabledAt} />],
        ]}
      />
      {hasEditConflict && <EditConflict present={present} />}
      {client.type !== 'PUBLIC' && (
        <section className="side">
          <h3>Secrets</h3>
          {client.secrets.length === 0 && <p className="soft">none</p>}
          <ul>
            {client.secrets.map(({ id, createdAt }) => (
              <li key={id} className="soft">
                Created <Instant at={createdAt} />
              </li>
            ))}
          </ul>
          {secret && <SecretBox label="New secret." secret={secret} />}
          {can('client_secret.rotated') && (
            <div className="actions">
              <ConfirmButton
                label="New secret"
                effect="The newest two secrets are valid; an older one ends now."
                disabled={running || client.disabledAt !== null}
                onConfirm={newSecret}
              />
            </div>
          )}
        </section>
      )}
      <form className="side" onSubmit={save}>
        <ClientFields
          type={client.type}
          values={{ ...stored, ...edits }}
          onChange={(changes) => setEdits({ ...edits, ...changes })}
          disabled={!can('client.updated')}
        />
        {can('client.updated') && (
          <div className="actions">
            <button type="submit" className="primary" disabled={running || Object.keys(edits).length === 0}>
              Save
            </button>
          </div>
        )}
        <p className="soft small">Tokens lose a removed scope within a second.</p>
      </form>
      <Restricted action="client.updated" to="change clients and their secrets" />
      {client.type === 'INTERNAL' && <Restricted action="internal_client.changed" to="change internal clients" />}
      <Problem error={update.error ?? rotate.error ?? disable.error ?? enable.error} />
      {can('client.disabled') && (
        <div className="actions">
          {client.disabledAt ? (
            <button
              type="button"
              disabled={running}
              onClick={async () => {
                const { data, isEditConflict } = await enable.run(version);
                accept(data?.enableClient, isEditConflict);
              }}
            >
              Enable the client
            </button>
          ) : (
            <ConfirmButton
              label="Disable the client"
              effect="Its tokens end within a second."
              disabled={running}
              onConfirm={async () => {
                const { data, isEditConflict } = await disable.run(version);
                accept(data?.disableClient, isEditConflict);
              }}
            />
          )}
        </div>
      )}
    </Drawer>
  );
}
