import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { SecretBox } from '../../components/secret-box.tsx';
import { type ClientType, CreateClientDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { ClientFields, type ClientValues, toLines } from './client-fields.tsx';

const NO_VALUES: ClientValues = { name: '', scopes: [], redirectUris: '', origins: '', pilotAgreement: '' };

/** Registers an OAuth client of an integrator, and shows its secret once. */
export function ClientForm({ integratorId, onClose }: { integratorId: string; onClose: () => void }) {
  const action = useAction(CreateClientDocument);
  const [type, setType] = useState<ClientType>('CONFIDENTIAL');
  const [values, setValues] = useState(NO_VALUES);
  const [created, setCreated] = useState<{ id: string; secret: string | null } | null>(null);
  const submit = async () => {
    const { data } = await action.run({
      ...{ integratorId, type, name: values.name, scopes: [...values.scopes] },
      redirectUris: toLines(values.redirectUris),
      origins: type === 'PUBLIC' ? toLines(values.origins) : [],
      pilotAgreement: values.pilotAgreement || undefined,
    });
    if (data) setCreated({ id: data.createClient.client.id, secret: data.createClient.secret ?? null });
  };
  if (created)
    return (
      <Drawer title={values.name} onClose={onClose}>
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
      <ActionForm action={action} onSubmit={submit} submit="Register the client">
        <label className="field">
          Type
          <select value={type} onChange={({ target }) => setType(target.value as ClientType)}>
            <option value="CONFIDENTIAL">Confidential: a server that keeps a secret</option>
            <option value="PUBLIC">Public: an app or a page in a browser</option>
          </select>
        </label>
        <ClientFields type={type} values={values} onChange={(changes) => setValues({ ...values, ...changes })} />
      </ActionForm>
    </Drawer>
  );
}
