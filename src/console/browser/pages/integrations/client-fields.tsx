import { LinesField, TextField } from '../../components/fields.tsx';
import type { ClientPartFragment, ClientType } from '../../graphql/generated.ts';
import type { Form } from '../../shared/use-form.ts';
import { ScopeChoice } from './choices.tsx';

/** What can be changed of a client. */
export type ClientValues = Pick<ClientPartFragment, 'name' | 'scopes' | 'redirectUris' | 'origins' | 'pilotAgreement'>;

interface Props {
  type: ClientType;
  form: Form<ClientValues>;
  disabled?: boolean;
}

/** Fields of what can be changed of a client. */
export const ClientFields = ({ type, form: { values, bind }, disabled }: Props) => (
  <>
    <TextField label="Name" maxLength={200} disabled={disabled} {...bind('name')} />
    <ScopeChoice legend="Scopes" internal={type === 'INTERNAL'} disabled={disabled} {...bind('scopes')} />
    {values.scopes.includes('write:sign_on_events') && values.pilotAgreement !== undefined && (
      <TextField
        label="Agreement of the pilot"
        disabled={disabled}
        {...bind('pilotAgreement')}
        value={values.pilotAgreement ?? ''}
      />
    )}
    {type !== 'INTERNAL' && (
      <LinesField label="Redirect URIs, one a line" disabled={disabled} {...bind('redirectUris')} />
    )}
    {type === 'PUBLIC' && <LinesField label="Browser origins, one a line" disabled={disabled} {...bind('origins')} />}
  </>
);
