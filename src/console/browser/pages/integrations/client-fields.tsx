import { TextAreaField, TextField } from '../../components/fields.tsx';
import type { ClientPartFragment, ClientType, UpdateClientMutationVariables } from '../../graphql/generated.ts';
import type { Form } from '../../shared/use-form.ts';
import { ScopeChoice } from './scope-choice.tsx';

/** Values of the form of a client. Lists of addresses are texts with one a line. */
export interface ClientValues {
  name: string;
  scopes: readonly string[];
  redirectUris: string;
  origins: string;
  pilotAgreement: string;
}

/** Returns the stored values of a client as its form shows them. */
export const toClientValues = (client: ClientPartFragment): ClientValues => ({
  name: client.name,
  scopes: client.scopes,
  redirectUris: client.redirectUris.join('\n'),
  origins: client.origins.join('\n'),
  pilotAgreement: client.pilotAgreement ?? '',
});

/** Returns the lines of a text that are not empty. */
export const toLines = (text: string) => text.split(/\s+/).filter((line) => line !== '');

/** Returns edited values as variables of the mutation; what is absent is kept. */
export const toClientUpdate = ({ scopes, redirectUris, origins, pilotAgreement, ...rest }: Partial<ClientValues>) =>
  ({
    ...rest,
    ...(scopes && { scopes: [...scopes] }),
    ...(redirectUris !== undefined && { redirectUris: toLines(redirectUris) }),
    ...(origins !== undefined && { origins: toLines(origins) }),
    ...(pilotAgreement && { pilotAgreement }),
  }) satisfies Partial<UpdateClientMutationVariables>;

interface Props {
  type: ClientType;
  form: Form<ClientValues>;
  disabled?: boolean;
}

/** What can be changed of a client. */
export const ClientFields = ({ type, form: { values, bind }, disabled }: Props) => (
  <>
    <TextField label="Name" maxLength={200} disabled={disabled} {...bind('name')} />
    <ScopeChoice legend="Scopes" internal={type === 'INTERNAL'} disabled={disabled} {...bind('scopes')} />
    {values.scopes.includes('write:sign_on_events') && (
      <TextField label="Agreement of the pilot" disabled={disabled} {...bind('pilotAgreement')} />
    )}
    {type !== 'INTERNAL' && (
      <TextAreaField label="Redirect URIs, one a line" disabled={disabled} {...bind('redirectUris')} />
    )}
    {type === 'PUBLIC' && (
      <TextAreaField label="Browser origins, one a line" disabled={disabled} {...bind('origins')} />
    )}
  </>
);
