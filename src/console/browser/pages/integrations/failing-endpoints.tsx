import { Link } from 'react-router';
import { Instant } from '../../components/facts.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { FailingEndpointsDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { useBuilder } from '../../shared/scope.tsx';

/** Webhook endpoints that receive a builder's events and have failed since their last success. */
export function FailingEndpoints() {
  const builder = useBuilder();
  const address = useAddress();
  const after = useFilters().get('after') ?? null;
  const request = useRequest(FailingEndpointsDocument, { builderId: builder.id, after });
  return (
    <ListPage
      title="Failing webhooks"
      description={`Endpoints that receive the events of ${builder.name}, and have failed since their last success`}
      filters={
        <Link className="button" to={address('/integrations')}>
          All integrations
        </Link>
      }
      request={request}
      page={({ webhookEndpoints }) => webhookEndpoints}
      empty="No webhook is failing"
      columns={[
        {
          header: 'Address',
          cell: ({ id, url, integrator }) => (
            <Link className="wrap" to={address(`/integrations/${integrator.id}`, { endpoint: id })}>
              {url}
            </Link>
          ),
        },
        { header: 'Integrator', cell: ({ integrator }) => integrator.name },
        { header: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
        { header: 'Failures', cell: ({ failures }) => failures, number: true },
        { header: 'Since', cell: ({ failingSince }) => failingSince && <Instant at={failingSince} /> },
      ]}
    />
  );
}
