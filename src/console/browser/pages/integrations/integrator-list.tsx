import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { ActionForm } from '../../components/action-form.tsx';
import { CursorPager } from '../../components/cursor-pager.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { SearchFilter } from '../../components/search-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { CreateIntegratorDocument, IntegratorsDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { addDays, formatCount, toCalendarDate } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { RejectionTable } from './rejection-table.tsx';
import { USAGE_DAYS, UsageChart } from './usage-chart.tsx';

/** All integrators, with their usage and the latest rejections. */
export function IntegratorList() {
  const { can } = useScope();
  const filters = useFilters();
  const address = useAddress();
  const [isAdding, setIsAdding] = useState(false);
  const until = toCalendarDate(Date.now(), 'UTC');
  const name = filters.get('name');
  const after = filters.get('after') ?? null;
  const request = useRequest(IntegratorsDocument, { name, after, since: addDays(until, 1 - USAGE_DAYS), until });
  return (
    <>
      <PageHead title="Integrations" description="Integrators, their clients and connections, and what they are doing">
        <SearchFilter name="name" label="Name" />
        {can('integrator.created') && (
          <button type="button" className="primary" onClick={() => setIsAdding(true)}>
            New integrator
          </button>
        )}
      </PageHead>
      <Loaded request={request} lines={14}>
        {({ integrators: { data, meta }, usageByDay, rejections }) => (
          <>
            <UsageChart usage={usageByDay} until={until} />
            <Panel title="Integrators">
              <DataTable
                caption="Integrators"
                empty={<Empty title="No integrator matches" />}
                rows={data}
                rowKey={({ id }) => id}
                columns={[
                  {
                    header: 'Integrator',
                    cell: (integrator) => (
                      <Link to={address(`/integrations/${integrator.id}`)}>
                        <strong>{integrator.name}</strong>
                      </Link>
                    ),
                  },
                  {
                    header: 'Clients',
                    cell: ({ activeClients }) => formatCount(activeClients),
                    number: true,
                  },
                  {
                    header: 'Builders',
                    cell: ({ activeConnections }) => formatCount(activeConnections),
                    number: true,
                  },
                  {
                    header: 'Webhooks',
                    cell: ({ webhookEndpoints }) => <WebhookState endpoints={webhookEndpoints} />,
                  },
                  {
                    header: `Requests, ${USAGE_DAYS} days`,
                    cell: ({ usage }) => formatCount(usage.requests),
                    number: true,
                  },
                  { header: 'Rejected', cell: ({ usage }) => formatCount(usage.rejections), number: true },
                  { header: 'Failed', cell: ({ usage }) => formatCount(usage.errors), number: true },
                ]}
              />
              <CursorPager next={meta.nextCursor} label="Pages of integrators" />
            </Panel>
            <Restricted
              action="integrator.created"
              to="register integrators, clients, connections and webhook endpoints"
            />
            <RejectionTable rejections={rejections} />
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
  const action = useAction(CreateIntegratorDocument);
  const navigate = useNavigate();
  const address = useAddress();
  const [name, setName] = useState('');
  const submit = async () => {
    const { data } = await action.run({ name });
    if (data) navigate(address(`/integrations/${data.createIntegrator.id}`));
  };
  return (
    <Drawer title="New integrator" kind="box" onClose={onClose}>
      <ActionForm action={action} onSubmit={submit} submit="Register">
        <label className="field">
          Name
          <input required maxLength={200} value={name} onChange={({ target }) => setName(target.value)} />
        </label>
      </ActionForm>
    </Drawer>
  );
}
