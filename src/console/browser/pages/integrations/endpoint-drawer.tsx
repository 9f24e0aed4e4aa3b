import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Identifier } from '../../components/copy.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { SelectFilter } from '../../components/filters.tsx';
import { EditConflict, SecretBox } from '../../components/notices.tsx';
import { Loaded, Problem } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import {
  DeleteWebhookEndpointDocument,
  DeliveriesDocument,
  type DeliveriesQuery,
  RotateWebhookSecretDocument,
  TestWebhookEndpointDocument,
  UpdateWebhookEndpointDocument,
  type WebhookDeliveryStatus,
} from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useEdit, useVersion, type Version } from '../../graphql/use-version.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatInstant, formatPlural } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { useForm } from '../../shared/use-form.ts';
import { ChangesLink } from './changes-link.tsx';
import { EndpointFields, type EndpointValues } from './endpoint-fields.tsx';
import { ReplayForm } from './replay-form.tsx';

type Endpoint = DeliveriesQuery['webhookEndpoint'];

const REASONS = {
  GONE: 'The receiver answered 410 Gone.',
  NO_SUCCESS: 'No delivery succeeded for five days.',
  CLIENT_DISABLED: 'The client that created it is disabled.',
} as const;

/** A webhook endpoint with its deliveries, whose filter and page are the parameters `delivery` and `before`. */
export default function EndpointDrawer({ endpointId, onClose }: { endpointId: string; onClose: () => void }) {
  const filters = useFilters();
  const status = filters.get('delivery') as WebhookDeliveryStatus | undefined;
  const after = filters.get('before') ?? null;
  const request = useRequest(DeliveriesDocument, { endpointId, status, after });
  return (
    <Drawer title="Webhook endpoint" onClose={onClose}>
      <Loaded request={request}>
        {({ webhookEndpoint }) => (
          <>
            <EndpointState endpoint={webhookEndpoint} readAgain={request.retry} onDeleted={onClose} />
            <ReplayForm endpoint={webhookEndpoint} readAgain={request.retry} />
            <Deliveries endpoint={webhookEndpoint} />
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

interface StateProps {
  endpoint: Endpoint;
  readAgain: () => void;
  onDeleted: () => void;
}

function EndpointState({ endpoint: read, readAgain, onDeleted }: StateProps) {
  const { can } = useScope();
  const version = useVersion(read, readAgain);
  const { edit, run, running, error } = useEdit(version);
  const [secret, setSecret] = useState<string | null>(null);
  const [tested, setTested] = useState<string | null>(null);
  const endpoint = version.record;
  const endpointId = endpoint.id;
  const test = async () => {
    const { data } = await run(TestWebhookEndpointDocument, { endpointId });
    if (!data) return;
    setTested(describeResult(data.testWebhookEndpoint));
    readAgain();
  };
  const switchOver = () => {
    const variables = { endpointId, status: active ? ('PAUSED' as const) : ('ACTIVE' as const) };
    return edit(UpdateWebhookEndpointDocument, variables, ({ updateWebhookEndpoint }) => updateWebhookEndpoint);
  };
  const rotate = async () => {
    const data = await edit(RotateWebhookSecretDocument, { endpointId }, (changed) => changed.rotateWebhookSecret);
    setSecret(data?.rotateWebhookSecret.secret ?? null);
  };
  const remove = async () => {
    if (await edit(DeleteWebhookEndpointDocument, { endpointId })) onDeleted();
  };
  const active = endpoint.status === 'ACTIVE';
  return (
    <>
      <p>
        <code className="wrap">{endpoint.url}</code>
      </p>
      <div className="actions">
        <StatusBadge status={endpoint.status} />
        {endpoint.failures > 0 && <span className="badge bad">{endpoint.failures} failed attempts</span>}
      </div>
      <Facts
        facts={[
          ['Id', <Identifier key="id" id={endpointId} />],
          ['Integrator', endpoint.integrator.name],
          ['Client', endpoint.client.name],
          ['Events', endpoint.types?.join(', ') ?? 'All types that the client may read'],
          [
            'Builders',
            endpoint.builderIds ? formatPlural(endpoint.builderIds.length, 'builder') : 'All that are connected',
          ],
          ['Disabled', endpoint.disabledReason && REASONS[endpoint.disabledReason]],
          ['Failing since', endpoint.failingSince && <Instant key="since" at={endpoint.failingSince} />],
          ['Next attempt', endpoint.suspendedUntil && <Instant key="next" at={endpoint.suspendedUntil} />],
          ['Audit log', <ChangesLink key="log" objectId={endpointId} />],
        ]}
      />
      {version.hasEditConflict && <EditConflict />}
      {secret && <SecretBox label="New signing secret." secret={secret} />}
      {tested && (
        <p className="notice" role="status">
          {tested}
        </p>
      )}
      <Problem error={error} />
      {can('client.updated') && (
        <div className="actions">
          <Button disabled={running} onClick={switchOver}>
            {active ? 'Pause' : 'Activate'}
          </Button>
          <Button disabled={running} onClick={test}>
            Send a test event
          </Button>
          <ConfirmButton
            label="New secret"
            effect="Deliveries are also signed with the present secret for 24 hours."
            disabled={running}
            onConfirm={rotate}
          />
          <ConfirmButton
            label="Delete"
            effect="Events that wait are not delivered."
            disabled={running}
            onConfirm={remove}
          />
        </div>
      )}
      {can('client.updated') && <EndpointDetails version={version} />}
    </>
  );
}

const describeResult = ({ responseStatus, error }: { responseStatus?: number | null; error?: string | null }) =>
  responseStatus ? `The receiver answered ${responseStatus}.` : (error ?? 'No answer.');

/** Changes the address, types of events and builders of an endpoint. */
function EndpointDetails({ version }: { version: Version<Endpoint> }) {
  const action = useEdit(version);
  const form = useForm<EndpointValues>(version.record);
  const submit = async () => {
    const variables = { endpointId: version.record.id, ...form.edits };
    const data = await action.edit(
      UpdateWebhookEndpointDocument,
      variables,
      (changed) => changed.updateWebhookEndpoint,
    );
    if (data) form.reset();
  };
  return (
    <ActionForm className="side" action={action} onSubmit={submit} submit="Save" disabled={!form.isEdited}>
      <h3>What it receives</h3>
      <EndpointFields bind={form.bind} />
    </ActionForm>
  );
}

const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'DROPPED'] as const;

function Deliveries({ endpoint: { deliveries } }: { endpoint: Endpoint }) {
  const { timeZone } = useScope();
  return (
    <section className="panel">
      <header>
        <h3>Deliveries of the last 30 days</h3>
        <SelectFilter name="delivery" label="State" options={DELIVERY_STATUSES} />
      </header>
      <DataTable
        name="Deliveries"
        empty="No deliveries"
        rows={deliveries.data}
        meta={deliveries.meta}
        cursor="before"
        columns={[
          {
            header: 'Event',
            cell: ({ type, createdAt }) => (
              <span>
                <code>{type}</code>
                <span className="soft small nowrap"> {formatInstant(createdAt, timeZone)}</span>
              </span>
            ),
          },
          { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
          { header: 'Attempts', cell: ({ attempts }) => attempts, number: true },
          {
            header: 'Answer',
            cell: ({ responseStatus, error }) => <span className="wrap small">{responseStatus ?? error}</span>,
          },
        ]}
      />
    </section>
  );
}
