import { Link } from 'react-router';
import { CursorPager } from '../../components/cursor-pager.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Instant } from '../../components/facts.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { FailingEndpointsDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import type { Scope } from '../../shared/scope.tsx';

/** Webhook endpoints that receive a builder's events and have failed since their last success. */
export function FailingEndpoints({ builder }: { builder: NonNullable<Scope['builder']> }) {
  const address = useAddress();
  const after = useFilters().get('after') ?? null;
  const request = useRequest(FailingEndpointsDocument, { builderId: builder.id, after });
  return (
    <>
      <PageHead
        title="Failing webhooks"
        description={`Endpoints that receive the events of ${builder.name}, and have failed since their last success`}
      >
        <Link className="button" to={address('/integrations')}>
          All integrations
        </Link>
      </PageHead>
      <section className="panel">
        <Loaded request={request}>
          {({ webhookEndpoints: { data, meta } }) => (
            <>
              <DataTable
                caption="Failing webhooks"
                empty={<Empty title="No webhook is failing" />}
                rows={data}
                rowKey={({ id }) => id}
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
              <CursorPager next={meta.nextCursor} label="Pages" />
            </>
          )}
        </Loaded>
      </section>
    </>
  );
}
