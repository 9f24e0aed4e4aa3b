import { Link, useParams } from 'react-router';
import { BuilderFilter } from '../../components/builder-picker.tsx';
import { CursorPager } from '../../components/cursor-pager.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { SearchFilter } from '../../components/search-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { OneIntegratorDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { addDays, formatDay, formatEnum, formatPlural, toCalendarDate } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { ClientDrawer } from './client-drawer.tsx';
import { ClientForm } from './client-form.tsx';
import { ConnectionDrawer } from './connection-drawer.tsx';
import { EndpointDrawer } from './endpoint-drawer.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { RejectionTable } from './rejection-table.tsx';
import { USAGE_DAYS, UsageChart } from './usage-chart.tsx';

/** Removes the parameters of the URL that open a drawer, and those of the drawer of an endpoint. */
const WITHOUT_DRAWER = { client: null, connection: null, endpoint: null, add: null, delivery: null, before: null };

/** One integrator: clients, connections, webhook endpoints, usage and rejections. */
export function IntegratorView() {
  const { integratorId = '' } = useParams();
  const { can, timeZone } = useScope();
  const filters = useFilters();
  const address = useAddress();
  const until = toCalendarDate(Date.now(), 'UTC');
  const clientName = filters.get('name');
  const connectedTo = filters.get('of');
  const request = useRequest(OneIntegratorDocument, {
    ...{ id: integratorId, since: addDays(until, 1 - USAGE_DAYS), until },
    ...{ clientName, clientsAfter: filters.get('clients'), connectedTo },
    // An integrator has one connection to a builder.
    connectionsAfter: connectedTo ? null : filters.get('connections'),
  });
  const close = () => {
    filters.set(WITHOUT_DRAWER);
    request.retry();
  };
  return (
    <Loaded request={request} lines={16}>
      {({
        integrator,
        clients: clientPage,
        connections: connectionPage,
        enabled: enabledClients,
        usage,
        rejections,
      }) => {
        const { webhookEndpoints } = integrator;
        const [clients, connections] = [clientPage.data, connectionPage.data];
        const client = clients.find(({ id }) => id === filters.get('client'));
        const connection = connections.find(({ builderId }) => builderId === filters.get('connection'));
        const endpointId = filters.get('endpoint');
        const addedKind = filters.get('add');
        return (
          <>
            <PageHead
              title={integrator.name}
              description={
                <>
                  <code>{integrator.id}</code>, since {formatDay(integrator.createdAt, timeZone)}
                </>
              }
              parent={<Link to={address('/integrations')}>Integrations</Link>}
            >
              <SearchFilter name="name" label="Client" position="clients" />
              <BuilderFilter />
            </PageHead>
            <UsageChart usage={usage} until={until} />
            <div className="columns wide">
              <Panel
                title="Clients"
                aside={
                  can('client.created') && (
                    <button type="button" onClick={() => filters.set({ add: 'client' })}>
                      New client
                    </button>
                  )
                }
              >
                <DataTable
                  caption="Clients"
                  empty={<Empty title={clientName ? 'No client matches' : 'No clients'} />}
                  rows={clients}
                  rowKey={({ id }) => id}
                  onOpen={({ id }) => filters.set({ client: id })}
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
                <CursorPager name="clients" next={clientPage.meta.nextCursor} label="Pages of clients" />
              </Panel>
              <Panel
                title="Connections to builders"
                aside={
                  can('connection.created') && (
                    <button type="button" onClick={() => filters.set({ add: 'connection' })}>
                      Connect a builder
                    </button>
                  )
                }
              >
                <DataTable
                  caption="Connections"
                  empty={<Empty title={connectedTo ? 'Not connected to this builder' : 'No connections'} />}
                  rows={connections}
                  rowKey={({ builderId }) => builderId}
                  onOpen={({ builderId }) => filters.set({ connection: builderId })}
                  columns={[
                    { header: 'Builder', cell: ({ builder }) => builder.name },
                    { header: 'Scopes', cell: ({ scopes }) => scopes.length, number: true },
                    { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
                  ]}
                />
                {!connectedTo && (
                  <CursorPager name="connections" next={connectionPage.meta.nextCursor} label="Pages of connections" />
                )}
              </Panel>
            </div>
            <Panel
              title="Webhook endpoints"
              aside={
                can('client.created') && (
                  <button type="button" onClick={() => filters.set({ add: 'endpoint' })}>
                    New endpoint
                  </button>
                )
              }
            >
              <DataTable
                caption="Webhook endpoints"
                empty={<Empty title="No webhook endpoints" />}
                rows={webhookEndpoints}
                rowKey={({ id }) => id}
                onOpen={({ id }) => filters.set({ endpoint: id })}
                columns={[
                  { header: 'Address', cell: ({ url }) => <span className="wrap">{url}</span> },
                  {
                    header: 'Events',
                    cell: ({ types }) => (types ? formatPlural(types.length, 'type') : 'All types'),
                  },
                  { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
                  {
                    header: 'Failures',
                    cell: ({ failures }) =>
                      failures > 0 ? <span className="badge bad">{failures} since the last success</span> : 'none',
                  },
                ]}
              />
            </Panel>
            <Restricted action="client.created" to="add clients, connections and webhook endpoints" />
            <RejectionTable rejections={rejections} />
            {client && <ClientDrawer key={client.id} client={client} onClose={close} onChanged={request.retry} />}
            {connection && (
              <ConnectionDrawer
                connection={connection}
                onClose={close}
                onChanged={request.retry}
                integratorId={integrator.id}
                clients={enabledClients.data}
              />
            )}
            {endpointId && <EndpointDrawer endpointId={endpointId} onClose={close} />}
            {addedKind === 'client' && <ClientForm integratorId={integrator.id} onClose={close} />}
            {addedKind === 'connection' && (
              <ConnectionDrawer
                connection={null}
                connected={connections.map(({ builderId }) => builderId)}
                onClose={close}
                onChanged={request.retry}
                integratorId={integrator.id}
                clients={enabledClients.data}
              />
            )}
            {addedKind === 'endpoint' && <EndpointForm clients={enabledClients} onClose={close} />}
          </>
        );
      }}
    </Loaded>
  );
}
