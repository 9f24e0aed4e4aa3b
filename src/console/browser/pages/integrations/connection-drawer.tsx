import { type FormEvent, useState } from 'react';
import { BuilderPicker } from '../../components/builder-picker.tsx';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { EditConflict } from '../../components/edit-conflict.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { Problem } from '../../components/problem.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import {
  type BuilderChoiceFragment,
  type ConnectionPartFragment,
  CreateConnectionDocument,
  RevokeConnectionDocument,
  UpdateConnectionDocument,
} from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { useVersion } from '../../graphql/use-version.ts';
import { useScope } from '../../shared/scope.tsx';
import { ScopeChoice } from './scope-choice.tsx';

interface Props {
  integratorId: string;
  /** Null for a new connection. */
  connection: ConnectionPartFragment | null;
  /** Builders that are connected already. */
  connected?: readonly string[];
  clients: readonly { scopes: readonly string[] }[];
  onClose: () => void;
  /** Reads the connection again. */
  onChanged: () => void;
}

/** What a builder allows an integrator. */
export function ConnectionDrawer({ integratorId, connection, connected = [], clients, onClose, onChanged }: Props) {
  const { can } = useScope();
  const [chosen, setChosen] = useState<BuilderChoiceFragment>();
  const builderId = connection?.builderId ?? chosen?.id ?? '';
  const [edited, setEdited] = useState<readonly string[]>();
  const clientScopes = [...new Set(clients.flatMap((client) => client.scopes))];
  const scopes = edited ?? connection?.scopes ?? clientScopes;
  const { expectedUpdatedAt, hasEditConflict, settle } = useVersion(connection ?? { updatedAt: '' });
  const create = useAction(CreateConnectionDocument);
  const update = useAction(UpdateConnectionDocument);
  const revoke = useAction(RevokeConnectionDocument);
  const running = create.running || update.running || revoke.running;
  const active = connection?.status === 'ACTIVE';
  const key = { integratorId, builderId };
  const finish = ({ data, isEditConflict }: { data: unknown; isEditConflict: boolean }) => {
    settle(null, isEditConflict);
    if (isEditConflict) onChanged();
    if (data) onClose();
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const values = { ...key, scopes: [...scopes] };
    finish(active ? await update.run({ ...values, expectedUpdatedAt }) : await create.run(values));
  };
  const mayChange = can(active ? 'connection.updated' : 'connection.created');
  const missing = clientScopes.filter((scope) => !scopes.includes(scope));
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
            ]}
          />
        </>
      ) : (
        <BuilderPicker label="Builder" value={chosen?.name ?? ''} excluded={connected} onChoose={setChosen} />
      )}
      {hasEditConflict && <EditConflict present={edited && (connection?.scopes.join(', ') || 'none')} />}
      {missing.length > 0 && (
        <p className="notice warn">
          Clients of the integrator have scopes that this connection does not allow: {missing.join(', ')}. Requests that
          need them are rejected.
        </p>
      )}
      <form className="side" onSubmit={save}>
        <ScopeChoice
          legend="Scopes that the builder allows"
          scopes={scopes}
          onChange={setEdited}
          disabled={!mayChange}
        />
        {mayChange && (
          <div className="actions">
            <button type="submit" className="primary" disabled={running || !builderId}>
              {!connection ? 'Connect' : active ? 'Save the scopes' : 'Activate again'}
            </button>
          </div>
        )}
      </form>
      <Restricted action="connection.updated" to="change or revoke connections" />
      <Problem error={create.error ?? update.error ?? revoke.error} />
      {active && can('connection.revoked') && (
        <div className="actions">
          <ConfirmButton
            label="Revoke the connection"
            effect="The integrator loses access to the builder within a second."
            disabled={running}
            onConfirm={async () => finish(await revoke.run({ ...key, expectedUpdatedAt }))}
          />
        </div>
      )}
    </Drawer>
  );
}
