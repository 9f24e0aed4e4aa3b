import { useState } from 'react';
import { ActionButtons } from '../../components/action-buttons.tsx';
import { ActionForm } from '../../components/action-form.tsx';
import { Identifier } from '../../components/copy.tsx';
import { Drawer, type RecordDrawerProps } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { EditConflict, Restricted, SecretBox } from '../../components/notices.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import {
  type ClientPartFragment,
  DisableClientDocument,
  EnableClientDocument,
  RotateClientSecretDocument,
  UpdateClientDocument,
} from '../../graphql/generated.ts';
import { useEdit, useVersion } from '../../graphql/use-version.ts';
import { formatEnum } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { useForm } from '../../shared/use-form.ts';
import { ChangesLink } from './changes-link.tsx';
import { ClientFields, type ClientValues } from './client-fields.tsx';

type Props = RecordDrawerProps & { client: ClientPartFragment };

/** An OAuth client: its properties, secrets and state. */
export function ClientDrawer({ client: read, onClose, onChanged }: Props) {
  const { can } = useScope();
  const version = useVersion(read, onChanged);
  const update = useEdit(version);
  const rotation = useEdit(version);
  const switching = useEdit(version);
  const [secret, setSecret] = useState<string | null>(null);
  const client = version.record;
  const { id } = client;
  const form = useForm<ClientValues>(client);
  const save = async () => {
    const variables = { id, ...form.edits, pilotAgreement: form.edits.pilotAgreement || undefined };
    if (await update.edit(UpdateClientDocument, variables, ({ updateClient }) => updateClient)) form.reset();
  };
  const rotate = async () => {
    const data = await rotation.edit(RotateClientSecretDocument, { id }, (done) => done.rotateClientSecret.client);
    setSecret(data?.rotateClientSecret.secret ?? null);
  };
  const disable = () => switching.edit(DisableClientDocument, { id }, ({ disableClient }) => disableClient);
  const enable = () => switching.edit(EnableClientDocument, { id }, ({ enableClient }) => enableClient);
  const present = (Object.keys(form.edits) as (keyof ClientValues)[])
    .map((key) => String(client[key] ?? '') || 'none')
    .join('; ');
  return (
    <Drawer title={client.name} onClose={onClose}>
      <div className="actions">
        <StatusBadge status={client.disabledAt ? 'DISABLED' : 'ACTIVE'} />
        <span className="badge">{formatEnum(client.type)}</span>
      </div>
      <Facts
        facts={[
          ['client_id', <Identifier key="id" id={id} />],
          ['Grants', client.grants.join(', ')],
          ['Registered', <Instant key="at" at={client.createdAt} />],
          ['Disabled', client.disabledAt && <Instant key="off" at={client.disabledAt} />],
          ['Audit log', <ChangesLink key="log" objectId={id} />],
        ]}
      />
      {version.hasEditConflict && <EditConflict present={present} />}
      {client.type !== 'PUBLIC' && (
        <section className="side">
          <h3>Secrets</h3>
          {client.secrets.length === 0 && <p className="soft">none</p>}
          <ul>
            {client.secrets.map(({ id: key, createdAt }) => (
              <li key={key} className="soft">
                Created <Instant at={createdAt} />
              </li>
            ))}
          </ul>
          {secret && <SecretBox label="New secret." secret={secret} />}
          {can('client_secret.rotated') && (
            <ActionButtons
              action={rotation}
              buttons={[['New secret', rotate, 'The newest two secrets are valid; an older one ends now.']]}
              disabled={rotation.running || client.disabledAt !== null}
            />
          )}
        </section>
      )}
      <ActionForm
        className="side"
        action={update}
        onSubmit={save}
        submit={can('client.updated') && 'Save'}
        disabled={!form.isEdited}
      >
        <ClientFields type={client.type} form={form} disabled={!can('client.updated')} />
        <p className="soft small">Tokens lose a removed scope within a second.</p>
      </ActionForm>
      <Restricted action="client.updated" to="change clients and their secrets" />
      {client.type === 'INTERNAL' && <Restricted action="internal_client.changed" to="change internal clients" />}
      {can('client.disabled') && (
        <ActionButtons
          action={switching}
          buttons={[
            client.disabledAt
              ? ['Enable the client', enable]
              : ['Disable the client', disable, 'Its tokens end within a second.'],
          ]}
        />
      )}
    </Drawer>
  );
}
