import { useState } from 'react';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { CursorPager } from '../../components/cursor-pager.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { EditConflict } from '../../components/edit-conflict.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { Problem } from '../../components/problem.tsx';
import { SecretBox } from '../../components/secret-box.tsx';
import { SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
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
import { useAction } from '../../graphql/use-action.ts';
import { type Request, useRequest } from '../../graphql/use-request.ts';
import { useVersion } from '../../graphql/use-version.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatInstant, formatPlural } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { EndpointDetails } from './endpoint-details.tsx';
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
            <EndpointState endpoint={webhookEndpoint} request={request} onDeleted={onClose} />
            <ReplayForm endpoint={webhookEndpoint} onStarted={request.retry} />
            <Deliveries endpoint={webhookEndpoint} />
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

interface StateProps {
  endpoint: Endpoint;
  request: Request<DeliveriesQuery>;
  onDeleted: () => void;
}

function EndpointState({ endpoint: read, request, onDeleted }: StateProps) {
  const { can } = useScope();
  const { record: endpoint, expectedUpdatedAt, hasEditConflict, settle } = useVersion(read);
  const update = useAction(UpdateWebhookEndpointDocument);
  const rotate = useAction(RotateWebhookSecretDocument);
  const remove = useAction(DeleteWebhookEndpointDocument);
  const test = useAction(TestWebhookEndpointDocument);
  const [secret, setSecret] = useState<string | null>(null);
  const [tested, setTested] = useState<string | null>(null);
  const running = update.running || rotate.running || remove.running || test.running;
  const version = { endpointId: endpoint.id, expectedUpdatedAt };
  const finish = (changed: (Partial<Endpoint> & { updatedAt: string }) | undefined, isEditConflict: boolean) => {
    settle(changed, isEditConflict);
    request.retry();
  };
  const runTest = async () => {
    const { data } = await test.run({ endpointId: endpoint.id });
    const result = data?.testWebhookEndpoint;
    if (!result) return;
    setTested(result.succeeded ? `The receiver answered ${result.responseStatus}.` : describeFailure(result));
    request.retry();
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
        {endpoint.replaying && <span className="badge brand">Replay is running</span>}
      </div>
      <Facts
        facts={[
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
        ]}
      />
      {hasEditConflict && <EditConflict />}
      {secret && <SecretBox label="New signing secret." secret={secret} />}
      {tested && (
        <p className="notice" role="status">
          {tested}
        </p>
      )}
      <Problem error={update.error ?? rotate.error ?? remove.error ?? test.error} />
      {can('client.updated') && (
        <div className="actions">
          <button
            type="button"
            disabled={running}
            onClick={async () => {
              const status = active ? 'PAUSED' : 'ACTIVE';
              const { data, isEditConflict } = await update.run({ ...version, status });
              finish(data?.updateWebhookEndpoint, isEditConflict);
            }}
          >
            {active ? 'Pause' : 'Activate'}
          </button>
          <button type="button" disabled={running} onClick={runTest}>
            Send a test event
          </button>
          <ConfirmButton
            label="New secret"
            effect="Deliveries are also signed with the present secret for 24 hours."
            disabled={running}
            onConfirm={async () => {
              const { data, isEditConflict } = await rotate.run(version);
              setSecret(data?.rotateWebhookSecret.secret ?? null);
              finish(data?.rotateWebhookSecret, isEditConflict);
            }}
          />
          <ConfirmButton
            label="Delete"
            effect="Events that wait are not delivered."
            disabled={running}
            onConfirm={async () => {
              const { data, isEditConflict } = await remove.run(version);
              if (data) onDeleted();
              else finish(undefined, isEditConflict);
            }}
          />
        </div>
      )}
      {can('client.updated') && (
        <EndpointDetails endpoint={endpoint} expectedUpdatedAt={expectedUpdatedAt} onFinished={finish} />
      )}
    </>
  );
}

const describeFailure = (result: { responseStatus?: number | null; error?: string | null }) =>
  result.responseStatus ? `The receiver answered ${result.responseStatus}.` : (result.error ?? 'No answer.');

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
        caption="Deliveries"
        empty={<Empty title="No deliveries" />}
        rows={deliveries.data}
        rowKey={({ id }) => id}
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
      <CursorPager name="before" next={deliveries.meta.nextCursor} label="Pages of deliveries" />
    </section>
  );
}
