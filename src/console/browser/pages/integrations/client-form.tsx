import { type FormEvent, useState } from 'react';
import { Drawer } from '../../components/drawer.tsx';
import { Problem } from '../../components/problem.tsx';
import { SecretBox } from '../../components/secret-box.tsx';
import { type ClientType, CreateClientDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { ScopeChoice } from './scope-choice.tsx';

const toLines = (text: string) => text.split(/\s+/).filter((line) => line !== '');

/** Registers an OAuth client of an integrator, and shows its secret once. */
export function ClientForm({ integratorId, onClose }: { integratorId: string; onClose: () => void }) {
  const action = useAction(CreateClientDocument);
  const [type, setType] = useState<ClientType>('CONFIDENTIAL');
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [redirectUris, setRedirectUris] = useState('');
  const [origins, setOrigins] = useState('');
  const [agreement, setAgreement] = useState('');
  const [created, setCreated] = useState<{ id: string; secret: string | null } | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { data } = await action.run({
      ...{ integratorId, name, type, scopes: [...scopes] },
      ...{ redirectUris: toLines(redirectUris), origins: type === 'PUBLIC' ? toLines(origins) : [] },
      pilotAgreement: agreement || undefined,
    });
    if (data) setCreated({ id: data.createClient.client.id, secret: data.createClient.secret ?? null });
  };
  if (created)
    return (
      <Drawer title={name} onClose={onClose}>
        <p>
          The client is registered. Its <code>client_id</code> is <code>{created.id}</code>.
        </p>
        {created.secret && <SecretBox label="Secret." secret={created.secret} />}
        <div className="actions">
          <button type="button" className="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Drawer>
    );
  return (
    <Drawer title="New client" onClose={onClose}>
      <form onSubmit={submit}>
        <label className="field">
          Name
          <input required maxLength={200} value={name} onChange={({ target }) => setName(target.value)} />
        </label>
        <label className="field">
          Type
          <select value={type} onChange={({ target }) => setType(target.value as ClientType)}>
            <option value="CONFIDENTIAL">Confidential: a server that keeps a secret</option>
            <option value="PUBLIC">Public: an app or a page in a browser</option>
          </select>
        </label>
        <ScopeChoice legend="Scopes" scopes={scopes} onChange={setScopes} />
        {scopes.includes('write:sign_on_events') && (
          <label className="field">
            Agreement of the pilot
            <input required value={agreement} onChange={({ target }) => setAgreement(target.value)} />
          </label>
        )}
        <label className="field">
          Redirect URIs, one a line
          <textarea value={redirectUris} onChange={({ target }) => setRedirectUris(target.value)} />
        </label>
        {type === 'PUBLIC' && (
          <label className="field">
            Browser origins, one a line
            <textarea value={origins} onChange={({ target }) => setOrigins(target.value)} />
          </label>
        )}
        <Problem error={action.error} />
        <div className="actions">
          <button type="submit" className="primary" disabled={action.running}>
            Register the client
          </button>
        </div>
      </form>
    </Drawer>
  );
}
