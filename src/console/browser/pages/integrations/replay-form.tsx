import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { Restricted } from '../../components/restricted.tsx';
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
  const action = useAction(ReplayWebhookEndpointDocument);
  const [since, setSince] = useState(() => toLocalInput(Date.now() - HOUR_MS, timeZone));
  const [started, setStarted] = useState(false);
  if (!can('client.updated')) return <Restricted action="client.updated" to="change endpoints and replay events" />;
  const submit = async () => {
    const { data } = await action.run({ endpointId: endpoint.id, since: fromLocalInput(since, timeZone) });
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
      <label className="field">
        Events since ({formatTimeZone(timeZone)})
        <input type="datetime-local" required value={since} onChange={({ target }) => setSince(target.value)} />
      </label>
      {started && (
        <p className="notice good" role="status">
          The replay has begun.
        </p>
      )}
    </ActionForm>
  );
}
