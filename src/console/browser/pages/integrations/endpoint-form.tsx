import { type FormEvent, useState } from 'react';
import { Drawer } from '../../components/drawer.tsx';
import { Problem } from '../../components/problem.tsx';
import { SecretBox } from '../../components/secret-box.tsx';
import { type ClientPartFragment, CreateWebhookEndpointDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';

/** Registers a webhook endpoint, and shows its signing secret once. */
export function EndpointForm({ clients, onClose }: { clients: readonly ClientPartFragment[]; onClose: () => void }) {
  const action = useAction(CreateWebhookEndpointDocument);
  const able = clients.filter(({ type, disabledAt }) => type === 'CONFIDENTIAL' && disabledAt === null);
  const [clientId, setClientId] = useState(able[0]?.id ?? '');
  const [url, setUrl] = useState('https://');
  const [types, setTypes] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const chosen = types.split(/[\s,]+/).filter((type) => type !== '');
    const { data } = await action.run({ clientId, url, types: chosen.length > 0 ? chosen : null });
    if (data) setSecret(data.createWebhookEndpoint.secret ?? '');
  };
  if (secret !== null)
    return (
      <Drawer title="New webhook endpoint" kind="box" onClose={onClose}>
        <SecretBox label="Signing secret." secret={secret} />
        <div className="actions">
          <button type="button" className="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Drawer>
    );
  return (
    <Drawer title="New webhook endpoint" kind="box" onClose={onClose}>
      <form onSubmit={submit}>
        <label className="field">
          Client whose scopes decide what it receives
          <select required value={clientId} onChange={({ target }) => setClientId(target.value)}>
            {able.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          Address
          <input
            type="url"
            required
            maxLength={2000}
            pattern="https://.+"
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        </label>
        <label className="field">
          Types of events, such as timesheet.created; empty for all
          <textarea value={types} onChange={({ target }) => setTypes(target.value)} />
        </label>
        <Problem error={action.error} />
        <div className="actions">
          <button type="submit" className="primary" disabled={action.running || !clientId}>
            Register
          </button>
        </div>
      </form>
    </Drawer>
  );
}
