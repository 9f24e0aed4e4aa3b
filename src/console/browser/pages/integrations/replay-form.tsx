import { useEffect, useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { TextField } from '../../components/fields.tsx';
import { Restricted } from '../../components/notices.tsx';
import { ReplayWebhookEndpointDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { formatPlural, formatTimeZone } from '../../shared/format.ts';
import { fromLocalInput, toLocalInput } from '../../shared/local-time.ts';
import { useScope } from '../../shared/scope.tsx';

const HOUR_MS = 3_600_000;

/** Milliseconds after which the progress of a replay is read again. */
const PROGRESS_MS = 2000;

interface Props {
  endpoint: { id: string; status: string; replayRemaining?: number | null };
  /** Reads the endpoint again. */
  readAgain: () => void;
}

/** Delivers events again, from an instant on. */
export function ReplayForm({ endpoint, readAgain }: Props) {
  const { can, timeZone } = useScope();
  const action = useAction();
  const remaining = endpoint.replayRemaining ?? null;
  const [started, setStarted] = useState(false);
  /** The most events that were to be read while this was shown: the length of the bar. */
  const [length, setLength] = useState(0);
  if (remaining !== null && remaining > length) setLength(remaining);
  useEffect(() => {
    if (remaining === null) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && readAgain(), PROGRESS_MS);
    return () => clearInterval(timer);
  });
  const [since, setSince] = useState(() => toLocalInput(Date.now() - HOUR_MS, timeZone));
  const submit = async () => {
    const variables = { endpointId: endpoint.id, since: fromLocalInput(since, timeZone) };
    const { data } = await action.run(ReplayWebhookEndpointDocument, variables);
    setStarted(data !== null);
    if (data) readAgain();
  };
  if (remaining !== null)
    return (
      <label className="side">
        Replay: {formatPlural(remaining, 'event')} still to read
        <progress max={length} value={length - remaining} />
      </label>
    );
  if (!can('client.updated')) return <Restricted action="client.updated" to="change endpoints and replay events" />;
  return (
    <ActionForm
      className="side"
      action={action}
      onSubmit={submit}
      submit="Start the replay"
      primary={false}
      disabled={endpoint.status !== 'ACTIVE'}
    >
      <h3>Deliver events again</h3>
      <TextField
        type="datetime-local"
        label={`Events since (${formatTimeZone(timeZone)})`}
        value={since}
        onChange={setSince}
      />
      {(started || length > 0) && (
        <p className="notice good" role="status">
          The replay has {length > 0 ? 'ended' : 'begun'}.
        </p>
      )}
    </ActionForm>
  );
}
