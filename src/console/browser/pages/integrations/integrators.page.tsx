import { useState } from 'react';
import { Link, Navigate } from 'react-router';
import { Button } from '../../components/button.tsx';
import { FormDialog } from '../../components/drawer.tsx';
import { TextField } from '../../components/fields.tsx';
import { SearchFilter } from '../../components/filters.tsx';
import { Restricted } from '../../components/notices.tsx';
import { PageHead } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { TablePanel } from '../../components/table-panel.tsx';
import { CreateIntegratorDocument, IntegratorsDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { formatCount } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { FailingEndpoints } from './failing-endpoints.tsx';
import { RequestLogTable } from './request-log-table.tsx';
import { USAGE_DAYS, UsageChart, useUsageFilters } from './usage-chart.tsx';

/** All integrators; with the parameter `show`, the webhooks of the builder that fail. */
export default function IntegratorsPage() {
  const { builder } = useScope();
  const isFailing = useFilters().get('show') === 'failing';
  return isFailing && builder ? <FailingEndpoints /> : <IntegratorList />;
}

/** All integrators, with their usage and failed requests. */
function IntegratorList() {
  const { can } = useScope();
  const filters = useFilters();
  const address = useAddress();
  const [isAdding, setIsAdding] = useState(false);
  const variables = { name: filters.get('name'), after: filters.get('after') ?? null, ...useUsageFilters() };
  const request = useRequest(IntegratorsDocument, variables);
  return (
    <>
      <PageHead title="Integrations" description="Integrators, their clients and connections, and what they are doing">
        {can('integrator.created') && (
          <Button className="primary" onClick={() => setIsAdding(true)}>
            New integrator
          </Button>
        )}
      </PageHead>
      <Loaded request={request} lines={14}>
        {({ integrators: { data, meta }, usageByDay, requestLog }) => (
          <>
            <UsageChart usage={usageByDay} />
            <TablePanel
              name="Integrators"
              filters={<SearchFilter name="name" label="Name" />}
              empty="No integrator matches"
              rows={data}
              meta={meta}
              columns={[
                {
                  header: 'Integrator',
                  cell: (integrator) => (
                    <Link to={address(`/integrations/${integrator.id}`)}>
                      <strong>{integrator.name}</strong>
                    </Link>
                  ),
                },
                { header: 'Clients', cell: ({ activeClients }) => formatCount(activeClients), number: true },
                { header: 'Builders', cell: ({ activeConnections }) => formatCount(activeConnections), number: true },
                { header: 'Webhooks', cell: ({ webhookEndpoints }) => <WebhookState endpoints={webhookEndpoints} /> },
                {
                  header: `Requests, ${USAGE_DAYS} days`,
                  cell: ({ usage }) => formatCount(usage.requests),
                  number: true,
                },
                { header: 'Rejected', cell: ({ usage }) => formatCount(usage.rejections), number: true },
                { header: 'Failed', cell: ({ usage }) => formatCount(usage.failures), number: true },
              ]}
            />
            <Restricted
              action="integrator.created"
              to="register integrators, clients, connections and webhook endpoints"
            />
            <RequestLogTable requests={requestLog} />
          </>
        )}
      </Loaded>
      {isAdding && <IntegratorForm onClose={() => setIsAdding(false)} />}
    </>
  );
}

function WebhookState({ endpoints }: { endpoints: readonly { status: string; failures: number }[] }) {
  if (endpoints.length === 0) return <span className="soft">none</span>;
  const failing = endpoints.filter(({ status, failures }) => status === 'DISABLED' || failures > 0).length;
  return failing > 0 ? <span className="badge bad">{failing} failing</span> : endpoints.length;
}

function IntegratorForm({ onClose }: { onClose: () => void }) {
  const address = useAddress();
  const [name, setName] = useState('');
  return (
    <FormDialog
      title="New integrator"
      mutation={CreateIntegratorDocument}
      variables={{ name }}
      submit="Register"
      result={({ createIntegrator }) => <Navigate to={address(`/integrations/${createIntegrator.id}`)} />}
      onClose={onClose}
    >
      <TextField label="Name" maxLength={200} value={name} onChange={setName} />
    </FormDialog>
  );
}
