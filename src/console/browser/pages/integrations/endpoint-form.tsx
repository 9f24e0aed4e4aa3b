import { useState } from 'react';
import { FormDialog } from '../../components/drawer.tsx';
import { SelectField } from '../../components/fields.tsx';
import { SecretBox } from '../../components/notices.tsx';
import { CreateWebhookEndpointDocument, type OneIntegratorQuery } from '../../graphql/generated.ts';
import { useForm } from '../../shared/use-form.ts';
import { EndpointFields, type EndpointValues } from './endpoint-fields.tsx';

interface Props {
  /** The integrator's clients that are not disabled. */
  clients: OneIntegratorQuery['enabled'];
  onClose: () => void;
}

/** Registers a webhook endpoint, and shows its signing secret once. */
export function EndpointForm({ clients: { data, meta }, onClose }: Props) {
  const able = data.filter(({ type }) => type === 'CONFIDENTIAL');
  const [clientId, setClientId] = useState(able[0]?.id ?? '');
  const { values, bind } = useForm<EndpointValues>({ url: 'https://', types: null, builderIds: null });
  return (
    <FormDialog
      title="New webhook endpoint"
      mutation={CreateWebhookEndpointDocument}
      variables={{ clientId, ...values }}
      submit="Register"
      disabled={!clientId}
      result={({ createWebhookEndpoint: { secret } }) =>
        secret ? (
          <SecretBox label="Signing secret." secret={secret} />
        ) : (
          <p className="notice warn" role="status">
            The client has this endpoint already. A new secret can be made where it is listed.
          </p>
        )
      }
      onClose={onClose}
    >
      <SelectField
        label="Client whose scopes decide what it receives"
        required
        options={able.map(({ id, name }) => [id, name] as const)}
        value={clientId}
        onChange={setClientId}
      />
      {meta.nextCursor && <p className="soft small">The first {data.length} clients are offered.</p>}
      <EndpointFields bind={bind} />
    </FormDialog>
  );
}
