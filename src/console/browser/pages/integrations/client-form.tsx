import { useState } from 'react';
import { Identifier } from '../../components/copy.tsx';
import { FormDialog } from '../../components/drawer.tsx';
import { SelectField } from '../../components/fields.tsx';
import { SecretBox } from '../../components/notices.tsx';
import { type ClientType, CreateClientDocument } from '../../graphql/generated.ts';
import { useForm } from '../../shared/use-form.ts';
import { ClientFields, type ClientValues } from './client-fields.tsx';

const NO_VALUES: ClientValues = { name: '', scopes: [], redirectUris: [], origins: [], pilotAgreement: null };

const TYPES: readonly (readonly [ClientType, string])[] = [
  ['CONFIDENTIAL', 'Confidential: a server that keeps a secret'],
  ['PUBLIC', 'Public: an app or a page in a browser'],
];

/** Registers an OAuth client of an integrator, and shows its secret once. */
export function ClientForm({ integratorId, onClose }: { integratorId: string; onClose: () => void }) {
  const [type, setType] = useState<ClientType>('CONFIDENTIAL');
  const form = useForm(NO_VALUES);
  const { values } = form;
  return (
    <FormDialog
      title="New client"
      kind="drawer"
      mutation={CreateClientDocument}
      variables={{ integratorId, type, ...values, origins: type === 'PUBLIC' ? values.origins : [] }}
      submit="Register the client"
      result={({ createClient: { client, secret } }) => (
        <>
          <p>
            The client is registered. Its <code>client_id</code> is <Identifier id={client.id} />
          </p>
          {secret && <SecretBox label="Secret." secret={secret} />}
        </>
      )}
      onClose={onClose}
    >
      <SelectField label="Type" options={TYPES} value={type} onChange={setType} />
      <ClientFields type={type} form={form} />
    </FormDialog>
  );
}
