import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/states.tsx';
import type { RejectionPartFragment } from '../../graphql/generated.ts';
import { formatAge } from '../../shared/format.ts';
import { useNow } from '../../shared/use-now.ts';

/** The latest rejections, each with its reason in words. */
export function RejectionTable({ rejections }: { rejections: readonly RejectionPartFragment[] }) {
  const now = useNow(60_000);
  return (
    <section className="panel">
      <header>
        <h2>Latest rejections</h2>
      </header>
      {rejections.length === 0 ? (
        <Empty title="No request was rejected" />
      ) : (
        <DataTable
          caption="Latest rejections"
          rows={rejections}
          rowKey={({ requestId, at }) => `${requestId} ${at}`}
          columns={[
            { header: 'Reason', cell: ({ reason }) => <strong className="wrap">{reason}</strong> },
            {
              header: 'Client',
              cell: ({ integratorName, clientName }) => (
                <span>
                  {clientName} <span className="soft">{integratorName}</span>
                </span>
              ),
            },
            { header: 'Operation', cell: ({ operation }) => <code className="wrap">{operation}</code> },
            { header: 'Status', cell: ({ status }) => status, number: true },
            {
              header: 'When',
              cell: ({ at }) => (
                <time dateTime={at} title={at} className="nowrap">
                  {formatAge(at, now)}
                </time>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}
