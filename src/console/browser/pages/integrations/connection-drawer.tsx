import { useState } from 'react';
import { ActionButtons } from '../../components/action-buttons.tsx';
import { ActionForm } from '../../components/action-form.tsx';
import { BuilderPicker } from '../../components/builder-picker.tsx';
import { Drawer, type RecordDrawerProps } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { EditConflict, Restricted } from '../../components/notices.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import {
  type BuilderChoiceFragment,
  type ConnectionPartFragment,
  CreateConnectionDocument,
  RevokeConnectionDocument,
  UpdateConnectionDocument,
} from '../../graphql/generated.ts';
import { useEdit, useVersion } from '../../graphql/use-version.ts';
import { useScope } from '../../shared/scope.tsx';
import { useForm } from '../../shared/use-form.ts';
import { ChangesLink } from './changes-link.tsx';
import { ScopeChoice } from './choices.tsx';

interface Props extends RecordDrawerProps {
  integratorId: string;
  /** Null for a new connection. */
  connection: ConnectionPartFragment | null;
  /** Builders that are connected already. */
  connected: readonly string[];
  clients: readonly { scopes: readonly string[] }[];
}

/** What a builder allows an integrator. */
export function ConnectionDrawer({ integratorId, connection, connected, clients, onClose, onChanged }: Props) {
  const { can } = useScope();
  const [chosen, setChosen] = useState<BuilderChoiceFragment>();
  const builderId = connection?.builderId ?? chosen?.id ?? '';
  const clientScopes = [...new Set(clients.flatMap((client) => client.scopes))];
  const { values, isEdited, bind } = useForm({ scopes: connection?.scopes ?? clientScopes });
  const version = useVersion(connection ?? { updatedAt: '' }, onChanged);
  const save = useEdit(version);
  const revoke = useEdit(version);
  const active = connection?.status === 'ACTIVE';
  const key = { integratorId, builderId };
  const submitScopes = async () => {
    const variables = { ...key, ...values };
    const saved = active
      ? await save.edit(UpdateConnectionDocument, variables)
      : (await save.run(CreateConnectionDocument, variables)).data;
    if (saved) onClose();
  };
  const confirmRevoke = async () => {
    if (await revoke.edit(RevokeConnectionDocument, key)) onClose();
  };
  const mayChange = can(active ? 'connection.updated' : 'connection.created');
  const missing = clientScopes.filter((scope) => !values.scopes.includes(scope));
  return (
    <Drawer title={connection ? connection.builder.name : 'Connect a builder'} onClose={onClose}>
      {connection ? (
        <>
          <div>
            <StatusBadge status={connection.status} />
          </div>
          <Facts
            facts={[
              ['Connected', <Instant key="since" at={connection.createdAt} />],
              ['Changed', <Instant key="changed" at={connection.updatedAt} />],
              ['Audit log', <ChangesLink key="log" objectId={`${integratorId}/${builderId}`} />],
            ]}
          />
        </>
      ) : (
        <BuilderPicker label="Builder" value={chosen?.name ?? ''} excluded={connected} onChoose={setChosen} />
      )}
      {version.hasEditConflict && (
        <EditConflict present={isEdited ? connection?.scopes.join(', ') || 'none' : undefined} />
      )}
      {missing.length > 0 && (
        <p className="notice warn">
          Clients of the integrator have scopes that this connection does not allow: {missing.join(', ')}. Requests that
          need them are rejected.
        </p>
      )}
      <ActionForm
        className="side"
        action={save}
        onSubmit={submitScopes}
        submit={mayChange && (!connection ? 'Connect' : active ? 'Save the scopes' : 'Activate again')}
        disabled={!builderId}
      >
        <ScopeChoice legend="Scopes that the builder allows" disabled={!mayChange} {...bind('scopes')} />
      </ActionForm>
      <Restricted action="connection.updated" to="change or revoke connections" />
      {active && can('connection.revoked') && (
        <ActionButtons
          action={revoke}
          buttons={[
            ['Revoke the connection', confirmRevoke, 'The integrator loses access to the builder within a second.'],
          ]}
        />
      )}
    </Drawer>
  );
}
