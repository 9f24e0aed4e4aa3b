import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Identifier } from '../../components/copy.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { EditConflict, Restricted, SecretBox } from '../../components/notices.tsx';
import { Problem } from '../../components/states.tsx';
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

interface Props {
  client: ClientPartFragment;
  onClose: () => void;
  /** Reads the client again. */
  onChanged: () => void;
}

/** An OAuth client: its properties, secrets and state. */
export default function ClientDrawer({ client: read, onClose, onChanged }: Props) {
  const { can } = useScope();
  const version = useVersion(read, onChanged);
  const { edit, running, error } = useEdit(version);
  const update = useEdit(version);
  const [secret, setSecret] = useState<string | null>(null);
  const client = version.record;
  const { id } = client;
  const form = useForm<ClientValues>(client);
  const save = async () => {
    const variables = { id, ...form.edits, pilotAgreement: form.edits.pilotAgreement || undefined };
    if (await update.edit(UpdateClientDocument, variables, ({ updateClient }) => updateClient)) form.reset();
  };
  const rotate = async () => {
    const data = await edit(RotateClientSecretDocument, { id }, ({ rotateClientSecret }) => rotateClientSecret.client);
    setSecret(data?.rotateClientSecret.secret ?? null);
  };
  const disable = () => edit(DisableClientDocument, { id }, ({ disableClient }) => disableClient);
  const enable = () => edit(EnableClientDocument, { id }, ({ enableClient }) => enableClient);
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
            <div className="actions">
              <ConfirmButton
                label="New secret"
                effect="The newest two secrets are valid; an older one ends now."
                disabled={running || client.disabledAt !== null}
                onConfirm={rotate}
              />
            </div>
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
      <Problem error={error} />
      {can('client.disabled') && (
        <div className="actions">
          {client.disabledAt ? (
            <Button disabled={running} onClick={enable}>
              Enable the client
            </Button>
          ) : (
            <ConfirmButton
              label="Disable the client"
              effect="Its tokens end within a second."
              disabled={running}
              onConfirm={disable}
            />
          )}
        </div>
      )}
    </Drawer>
  );
}
