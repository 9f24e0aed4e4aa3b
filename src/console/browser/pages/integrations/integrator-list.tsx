import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FormDialog } from '../../components/drawer.tsx';
import { TextField } from '../../components/fields.tsx';
import { SearchFilter } from '../../components/filters.tsx';
import { Restricted } from '../../components/notices.tsx';
import { PageHead, Panel } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { CreateIntegratorDocument, IntegratorsDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { addDays, formatCount, toCalendarDate } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { RequestLogTable } from './request-log-table.tsx';
import { USAGE_DAYS, UsageChart } from './usage-chart.tsx';

/** All integrators, with their usage and failed requests. */
export function IntegratorList() {
  const { can } = useScope();
  const filters = useFilters();
  const address = useAddress();
  const [isAdding, setIsAdding] = useState(false);
  const until = toCalendarDate(Date.now(), 'UTC');
  const name = filters.get('name');
  const after = filters.get('after') ?? null;
  const request = useRequest(IntegratorsDocument, {
    name,
    after,
    requestId: filters.get('request'),
    day: filters.get('day'),
    since: addDays(until, 1 - USAGE_DAYS),
    until,
  });
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
            <UsageChart usage={usageByDay} until={until} />
            <Panel title="Integrators" aside={<SearchFilter name="name" label="Name" />}>
              <DataTable
                name="Integrators"
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
            </Panel>
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
  const action = useAction();
  const navigate = useNavigate();
  const address = useAddress();
  const [name, setName] = useState('');
  const submit = async () => {
    const { data } = await action.run(CreateIntegratorDocument, { name });
    if (data) navigate(address(`/integrations/${data.createIntegrator.id}`));
  };
  return (
    <FormDialog title="New integrator" action={action} onSubmit={submit} submit="Register" onClose={onClose}>
      <TextField label="Name" maxLength={200} value={name} onChange={setName} />
    </FormDialog>
  );
}
