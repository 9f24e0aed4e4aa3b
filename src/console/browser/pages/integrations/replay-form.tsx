import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { TextField } from '../../components/fields.tsx';
import { Restricted } from '../../components/notices.tsx';
import { ReplayWebhookEndpointDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { formatTimeZone } from '../../shared/format.ts';
import { fromLocalInput, toLocalInput } from '../../shared/local-time.ts';
import { useScope } from '../../shared/scope.tsx';

const HOUR_MS = 3_600_000;

interface Props {
  endpoint: { id: string; status: string; replaying: boolean };
  onStarted: () => void;
}

/** Delivers events again, from an instant on. */
export function ReplayForm({ endpoint, onStarted }: Props) {
  const { can, timeZone } = useScope();
  const action = useAction();
  const [since, setSince] = useState(() => toLocalInput(Date.now() - HOUR_MS, timeZone));
  const [started, setStarted] = useState(false);
  if (!can('client.updated')) return <Restricted action="client.updated" to="change endpoints and replay events" />;
  const submit = async () => {
    const variables = { endpointId: endpoint.id, since: fromLocalInput(since, timeZone) };
    const { data } = await action.run(ReplayWebhookEndpointDocument, variables);
    setStarted(data !== null);
    if (data) onStarted();
  };
  return (
    <ActionForm
      className="side"
      action={action}
      onSubmit={submit}
      submit="Start the replay"
      primary={false}
      disabled={endpoint.replaying || endpoint.status !== 'ACTIVE'}
    >
      <h3>Deliver events again</h3>
      <TextField
        type="datetime-local"
        label={`Events since (${formatTimeZone(timeZone)})`}
        value={since}
        onChange={setSince}
      />
      {started && (
        <p className="notice good" role="status">
          The replay has begun.
        </p>
      )}
    </ActionForm>
  );
}
