import { Link, useParams } from 'react-router';
import { Button } from '../../components/button.tsx';
import { Identifier } from '../../components/copy.tsx';
import { BuilderFilter, SearchFilter } from '../../components/filters.tsx';
import { Restricted } from '../../components/notices.tsx';
import { PageHead } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { TablePanel } from '../../components/table-panel.tsx';
import { OneIntegratorDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { formatDay, formatEnum, formatPlural } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { ClientDrawer } from './client-drawer.tsx';
import { ClientForm } from './client-form.tsx';
import { ConnectionDrawer } from './connection-drawer.tsx';
import { EndpointDrawer } from './endpoint-drawer.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { RequestLogTable } from './request-log-table.tsx';
import { UsageChart, useUsageFilters } from './usage-chart.tsx';

/** Removes the parameters of the URL that open a drawer, and those of the drawer of an endpoint. */
const WITHOUT_DRAWER = { client: null, connection: null, endpoint: null, add: null, delivery: null, before: null };

/** One integrator: clients, connections, webhook endpoints, usage and failed requests. */
export default function IntegratorPage() {
  const { integratorId = '' } = useParams();
  const { timeZone, can } = useScope();
  const filters = useFilters();
  const address = useAddress();
  const clientName = filters.get('name');
  const connectedTo = filters.get('of');
  const request = useRequest(OneIntegratorDocument, {
    id: integratorId,
    ...useUsageFilters(),
    clientName,
    clientsAfter: filters.get('clients'),
    texts: can('person.read'),
    connectedTo,
    // An integrator has one connection to a builder.
    connectionsAfter: connectedTo ? null : filters.get('connections'),
  });
  const close = () => {
    filters.set(WITHOUT_DRAWER);
    request.retry();
  };
  return (
    <Loaded request={request} lines={16}>
      {({ integrator, clients, connections, enabled, usageByDay, requestLog }) => {
        const client = clients.data.find(({ id }) => id === filters.get('client'));
        const endpointId = filters.get('endpoint');
        const addedKind = filters.get('add');
        const isOpened = ({ builderId }: { builderId: string }) => builderId === filters.get('connection');
        const connection = addedKind === 'connection' ? null : connections.data.find(isOpened);
        return (
          <>
            <PageHead
              title={integrator.name}
              description={
                <>
                  <Identifier id={integrator.id} /> since {formatDay(integrator.createdAt, timeZone)}
                </>
              }
              parent={<Link to={address('/integrations')}>Integrations</Link>}
            />
            <UsageChart usage={usageByDay} />
            <div className="columns wide">
              <TablePanel
                name="Clients"
                filters={
                  <>
                    <SearchFilter name="name" label="Client" position="clients" />
                    <AddButton kind="client" label="New client" />
                  </>
                }
                empty={clientName ? 'No client matches' : 'No clients'}
                rows={clients.data}
                meta={clients.meta}
                cursor="clients"
                opens="client"
                columns={[
                  { header: 'Client', cell: ({ name }) => name },
                  { header: 'Type', cell: ({ type }) => formatEnum(type) },
                  { header: 'Scopes', cell: ({ scopes }) => scopes.length, number: true },
                  {
                    header: 'State',
                    cell: ({ disabledAt }) => <StatusBadge status={disabledAt ? 'DISABLED' : 'ACTIVE'} />,
                  },
                ]}
              />
              <TablePanel
                name="Connections"
                title="Connections to builders"
                filters={
                  <>
                    <BuilderFilter />
                    <AddButton kind="connection" label="Connect a builder" />
                  </>
                }
                empty={connectedTo ? 'Not connected to this builder' : 'No connections'}
                rows={connections.data}
                rowKey={({ builderId }) => builderId}
                meta={connectedTo ? undefined : connections.meta}
                cursor="connections"
                opens="connection"
                columns={[
                  { header: 'Builder', cell: ({ builder }) => builder.name },
                  { header: 'Scopes', cell: ({ scopes }) => scopes.length, number: true },
                  { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
                ]}
              />
            </div>
            <TablePanel
              name="Webhook endpoints"
              filters={<AddButton kind="endpoint" label="New endpoint" />}
              empty="No webhook endpoints"
              rows={integrator.webhookEndpoints}
              opens="endpoint"
              columns={[
                { header: 'Address', cell: ({ url }) => <span className="wrap">{url}</span> },
                { header: 'Events', cell: ({ types }) => (types ? formatPlural(types.length, 'type') : 'All types') },
                { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
                {
                  header: 'Failures',
                  cell: ({ failures }) =>
                    failures > 0 ? <span className="badge bad">{failures} since the last success</span> : 'none',
                },
              ]}
            />
            <Restricted action="client.created" to="add clients, connections and webhook endpoints" />
            <RequestLogTable requests={requestLog} />
            {client && <ClientDrawer key={client.id} client={client} onClose={close} onChanged={request.retry} />}
            {connection !== undefined && (
              <ConnectionDrawer
                key={connection?.builderId}
                integratorId={integrator.id}
                connection={connection}
                connected={connections.data.map(({ builderId }) => builderId)}
                clients={enabled.data}
                onClose={close}
                onChanged={request.retry}
              />
            )}
            {endpointId && <EndpointDrawer key={endpointId} endpointId={endpointId} onClose={close} />}
            {addedKind === 'client' && <ClientForm integratorId={integrator.id} onClose={close} />}
            {addedKind === 'endpoint' && <EndpointForm clients={enabled} onClose={close} />}
          </>
        );
      }}
    </Loaded>
  );
}

/** Opens a form that adds a part of the integrator, where the role may. Who registers clients registers endpoints too. */
function AddButton({ kind, label }: { kind: 'client' | 'connection' | 'endpoint'; label: string }) {
  const { can } = useScope();
  const filters = useFilters();
  if (!can(kind === 'connection' ? 'connection.created' : 'client.created')) return null;
  return <Button onClick={() => filters.set({ add: kind })}>{label}</Button>;
}
