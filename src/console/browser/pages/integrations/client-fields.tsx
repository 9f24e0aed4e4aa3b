import { TextAreaField, TextField } from '../../components/fields.tsx';
import type { ClientPartFragment, ClientType, UpdateClientMutationVariables } from '../../graphql/generated.ts';
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
  values: ClientValues;
  onChange: (changes: Partial<ClientValues>) => void;
  disabled?: boolean;
}

/** What can be changed of a client. */
export function ClientFields({ type, values, onChange, disabled = false }: Props) {
  return (
    <>
      <TextField
        label="Name"
        maxLength={200}
        value={values.name}
        disabled={disabled}
        onChange={(name) => onChange({ name })}
      />
      <ScopeChoice
        legend="Scopes"
        scopes={values.scopes}
        onChange={(scopes) => onChange({ scopes })}
        internal={type === 'INTERNAL'}
        disabled={disabled}
      />
      {values.scopes.includes('write:sign_on_events') && (
        <TextField
          label="Agreement of the pilot"
          value={values.pilotAgreement}
          disabled={disabled}
          onChange={(pilotAgreement) => onChange({ pilotAgreement })}
        />
      )}
      {type !== 'INTERNAL' && (
        <TextAreaField
          label="Redirect URIs, one a line"
          value={values.redirectUris}
          disabled={disabled}
          onChange={(redirectUris) => onChange({ redirectUris })}
        />
      )}
      {type === 'PUBLIC' && (
        <TextAreaField
          label="Browser origins, one a line"
          value={values.origins}
          disabled={disabled}
          onChange={(origins) => onChange({ origins })}
        />
      )}
    </>
  );
}
