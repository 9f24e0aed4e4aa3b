import { Link } from 'react-router';
import { Button } from '../../components/button.tsx';
import { Identifier } from '../../components/copy.tsx';
import { SearchFilter } from '../../components/filters.tsx';
import { TablePanel } from '../../components/table-panel.tsx';
import type { LoggedRequestPartFragment } from '../../graphql/generated.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { formatAge, formatCount, formatPlural, formatShortDay } from '../../shared/format.ts';
import { useNow } from '../../shared/use-now.ts';

const describe = ({ message, errors, code }: LoggedRequestPartFragment) =>
  errors?.map((error) => `${error.fieldName}: ${error.message}`).join('; ') ?? message ?? code;

/** Returns the operation as usage names it. */
const describeOperation = ({ method, path, graphqlOperation, tool }: LoggedRequestPartFragment) =>
  tool ? `tool ${tool}` : graphqlOperation ? `graphql ${graphqlOperation}` : `${method} ${path}`;

/** Returns one row for requests of a client that failed in the same way, with the latest of them. */
function groupRequests(requests: readonly LoggedRequestPartFragment[]) {
  const groups = Map.groupBy(requests, (request) =>
    JSON.stringify([request.client.id, describeOperation(request), request.status, describe(request)]),
  );
  return [...groups.values()].map((group) => ({ ...group[0]!, times: group.length }));
}

/** Scrolls to the list, which is below the charts, when a search or a bar of a chart leads to it. */
const scrollTo = (title: HTMLElement | null) => title?.scrollIntoView({ block: 'center' });

/** The latest requests that failed, or those with the id that the parameter `request` of the URL has; equal ones are counted. */
export function RequestLogTable({ requests }: { requests: readonly LoggedRequestPartFragment[] }) {
  const now = useNow(60_000);
  const filters = useFilters();
  const day = filters.get('day');
  const chosen = filters.get('request') ?? day;
  const count = `${formatPlural(requests.length, 'rejection')}, equal ones in one row`;
  const address = useAddress();
  return (
    <TablePanel
      name="Failed requests"
      title={
        <span key={chosen} ref={chosen ? scrollTo : null}>
          Failed requests{day && ` of ${formatShortDay(day)}`} <span className="soft small">{count}</span>
        </span>
      }
      filters={
        <>
          {day && <Button onClick={() => filters.set({ day: null })}>All days</Button>}
          <SearchFilter name="request" label="Request id" />
        </>
      }
      empty="No request failed"
      hint="Failed requests are kept for seven days."
      rows={groupRequests(requests)}
      rowKey={({ requestId, at }) => `${requestId} ${at}`}
      columns={[
        {
          header: 'Reason',
          cell: (request) => (
            <span className="wrap">
              <strong>{describe(request)}</strong>{' '}
              {request.code === 'INSUFFICIENT_SCOPE' && request.builderId && (
                <Link
                  to={address(`/integrations/${request.integratorId}`, {
                    of: request.builderId,
                    connection: request.builderId,
                  })}
                >
                  Scopes of the connection
                </Link>
              )}
            </span>
          ),
        },
        {
          header: 'Client',
          cell: ({ integratorId, integrator, client }) => (
            <span>
              <Link to={address(`/integrations/${integratorId}`, { client: client.id })}>{client.name}</Link>{' '}
              <span className="soft">of {integrator.name}</span>
            </span>
          ),
        },
        { header: 'Operation', cell: (request) => <code className="wrap">{describeOperation(request)}</code> },
        { header: 'Status', cell: ({ status }) => status, number: true },
        { header: 'Times', cell: ({ times }) => formatCount(times), number: true },
        {
          header: 'Last',
          nowrap: true,
          cell: ({ at }) => <span title={at}>{formatAge(at, now)}</span>,
        },
        { header: 'Request id', cell: ({ requestId }) => <Identifier id={requestId} /> },
      ]}
    />
  );
}
