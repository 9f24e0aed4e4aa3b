import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { SecretBox } from '../../components/secret-box.tsx';
import { CreateWebhookEndpointDocument, type OneIntegratorQuery } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { EndpointFields, type EndpointValues, toEndpointVariables } from './endpoint-fields.tsx';

interface Props {
  /** The integrator's clients that are not disabled. */
  clients: OneIntegratorQuery['enabled'];
  onClose: () => void;
}

/** Registers a webhook endpoint, and shows its signing secret once. */
export function EndpointForm({ clients: { data, meta }, onClose }: Props) {
  const action = useAction(CreateWebhookEndpointDocument);
  const able = data.filter(({ type }) => type === 'CONFIDENTIAL');
  const [clientId, setClientId] = useState(able[0]?.id ?? '');
  const [values, setValues] = useState<EndpointValues>({ url: 'https://', types: '', builderIds: [] });
  const [created, setCreated] = useState<{ secret?: string | null } | null>(null);
  const submit = async () => {
    const result = await action.run({ clientId, url: values.url, ...toEndpointVariables(values) });
    if (result.data) setCreated(result.data.createWebhookEndpoint);
  };
  if (created)
    return (
      <Drawer title="New webhook endpoint" kind="box" onClose={onClose}>
        {created.secret ? (
          <SecretBox label="Signing secret." secret={created.secret} />
        ) : (
          <p className="notice warn" role="status">
            The client has this endpoint already. A new secret can be made where it is listed.
          </p>
        )}
        <div className="actions">
          <button type="button" className="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Drawer>
    );
  return (
    <Drawer title="New webhook endpoint" kind="box" onClose={onClose}>
      <ActionForm action={action} onSubmit={submit} submit="Register" disabled={!clientId}>
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
        {meta.nextCursor && <p className="soft small">The first {data.length} clients are offered.</p>}
        <EndpointFields values={values} onChange={(changes) => setValues({ ...values, ...changes })} />
      </ActionForm>
    </Drawer>
  );
}
