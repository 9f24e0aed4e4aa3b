import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { type EndpointPartFragment, UpdateWebhookEndpointDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { EndpointFields, type EndpointValues, toEndpointVariables } from './endpoint-fields.tsx';

interface Props {
  endpoint: EndpointPartFragment;
  expectedUpdatedAt: string;
  onFinished: (changed: EndpointPartFragment | undefined, isEditConflict: boolean) => void;
}

/** Changes the address, types of events and builders of an endpoint. */
export function EndpointDetails({ endpoint, expectedUpdatedAt, onFinished }: Props) {
  const action = useAction(UpdateWebhookEndpointDocument);
  // Fields that are not edited show the record, which another person may change meanwhile.
  const [edits, setEdits] = useState<Partial<EndpointValues>>({});
  const { url, types, builderIds } = endpoint;
  const submit = async () => {
    const variables = { endpointId: endpoint.id, ...toEndpointVariables(edits), expectedUpdatedAt };
    const { data, isEditConflict } = await action.run(variables);
    if (data) setEdits({});
    onFinished(data?.updateWebhookEndpoint, isEditConflict);
  };
  return (
    <ActionForm
      className="side"
      action={action}
      onSubmit={submit}
      submit="Save"
      disabled={Object.keys(edits).length === 0}
    >
      <h3>What it receives</h3>
      <EndpointFields
        values={{ url, types: types?.join('\n') ?? '', builderIds: builderIds ?? [], ...edits }}
        onChange={(changes) => setEdits({ ...edits, ...changes })}
      />
    </ActionForm>
  );
}
