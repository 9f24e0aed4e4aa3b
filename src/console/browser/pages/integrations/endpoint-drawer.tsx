import { useState } from 'react';
import { ActionButtons } from '../../components/action-buttons.tsx';
import { ActionForm } from '../../components/action-form.tsx';
import { Identifier } from '../../components/copy.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Drawer, type RecordDrawerProps } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { SelectFilter } from '../../components/filters.tsx';
import { EditConflict, SecretBox } from '../../components/notices.tsx';
import { Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import {
  DeleteWebhookEndpointDocument,
  DeliveriesDocument,
  type DeliveriesQuery,
  RotateWebhookSecretDocument,
  TestWebhookEndpointDocument,
  UpdateWebhookEndpointDocument,
  type WebhookDeliveryStatus,
  type WebhookEndpointSwitch,
} from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useEdit, useVersion } from '../../graphql/use-version.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatPlural } from '../../shared/format.ts';
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
export function EndpointDrawer({ endpointId, onClose }: { endpointId: string; onClose: () => void }) {
  const filters = useFilters();
  const status = filters.get('delivery') as WebhookDeliveryStatus | undefined;
  const after = filters.get('before') ?? null;
  const request = useRequest(DeliveriesDocument, { endpointId, status, after });
  return (
    <Drawer title="Webhook endpoint" onClose={onClose}>
      <Loaded request={request}>
        {({ webhookEndpoint }) => (
          <>
            <EndpointState endpoint={webhookEndpoint} onClose={onClose} onChanged={request.retry} />
            <ReplayForm endpoint={webhookEndpoint} readAgain={request.retry} />
            <Deliveries endpoint={webhookEndpoint} />
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

function EndpointState({ endpoint: read, onClose, onChanged }: RecordDrawerProps & { endpoint: Endpoint }) {
  const { can } = useScope();
  const version = useVersion(read, onChanged);
  const action = useEdit(version);
  const update = useEdit(version);
  const [secret, setSecret] = useState<string | null>(null);
  const [tested, setTested] = useState<string | null>(null);
  const endpoint = version.record;
  const form = useForm<EndpointValues>(endpoint);
  const endpointId = endpoint.id;
  const active = endpoint.status === 'ACTIVE';
  const change = (by: typeof action, changes: Partial<EndpointValues & { status: WebhookEndpointSwitch }>) =>
    by.edit(UpdateWebhookEndpointDocument, { endpointId, ...changes }, (changed) => changed.updateWebhookEndpoint);
  const save = async () => {
    if (await change(update, form.edits)) form.reset();
  };
  const test = async () => {
    const { data } = await action.run(TestWebhookEndpointDocument, { endpointId });
    if (!data) return;
    const { responseStatus, error } = data.testWebhookEndpoint;
    setTested(responseStatus ? `The receiver answered ${responseStatus}.` : (error ?? 'No answer.'));
    onChanged();
  };
  const rotate = async () => {
    const data = await action.edit(RotateWebhookSecretDocument, { endpointId }, (done) => done.rotateWebhookSecret);
    setSecret(data?.rotateWebhookSecret.secret ?? null);
  };
  const remove = async () => {
    if (await action.edit(DeleteWebhookEndpointDocument, { endpointId })) onClose();
  };
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
      {can('client.updated') && (
        <>
          <ActionButtons
            action={action}
            buttons={[
              active
                ? ['Pause', () => change(action, { status: 'PAUSED' })]
                : ['Activate', () => change(action, { status: 'ACTIVE' })],
              ['Send a test event', test],
              ['New secret', rotate, 'Deliveries are also signed with the present secret for 24 hours.'],
              ['Delete', remove, 'Events that wait are not delivered.'],
            ]}
          />
          <ActionForm className="side" action={update} onSubmit={save} submit="Save" disabled={!form.isEdited}>
            <h3>What it receives</h3>
            <EndpointFields bind={form.bind} />
          </ActionForm>
        </>
      )}
    </>
  );
}

const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'DROPPED'] as const;

function Deliveries({ endpoint: { deliveries } }: { endpoint: Endpoint }) {
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
                <code>{type}</code>{' '}
                <span className="soft small">
                  <Instant at={createdAt} />
                </span>
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
