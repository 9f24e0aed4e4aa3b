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
  ...{ name: client.name, scopes: client.scopes, pilotAgreement: client.pilotAgreement ?? '' },
  ...{ redirectUris: client.redirectUris.join('\n'), origins: client.origins.join('\n') },
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
      <label className="field">
        Name
        <input
          required
          maxLength={200}
          value={values.name}
          disabled={disabled}
          onChange={({ target }) => onChange({ name: target.value })}
        />
      </label>
      <ScopeChoice
        legend="Scopes"
        scopes={values.scopes}
        onChange={(scopes) => onChange({ scopes })}
        internal={type === 'INTERNAL'}
        disabled={disabled}
      />
      {values.scopes.includes('write:sign_on_events') && (
        <label className="field">
          Agreement of the pilot
          <input
            required
            value={values.pilotAgreement}
            disabled={disabled}
            onChange={({ target }) => onChange({ pilotAgreement: target.value })}
          />
        </label>
      )}
      {type !== 'INTERNAL' && (
        <label className="field">
          Redirect URIs, one a line
          <textarea
            value={values.redirectUris}
            disabled={disabled}
            onChange={({ target }) => onChange({ redirectUris: target.value })}
          />
        </label>
      )}
      {type === 'PUBLIC' && (
        <label className="field">
          Browser origins, one a line
          <textarea
            value={values.origins}
            disabled={disabled}
            onChange={({ target }) => onChange({ origins: target.value })}
          />
        </label>
      )}
    </>
  );
}
