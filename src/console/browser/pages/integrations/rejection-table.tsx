import { Fragment } from 'react';
import { DataTable } from '../../components/data-table.tsx';
import { Panel } from '../../components/page.tsx';
import type { RejectionPartFragment } from '../../graphql/generated.ts';
import { formatAge, formatCount } from '../../shared/format.ts';
import { useNow } from '../../shared/use-now.ts';

interface Group extends RejectionPartFragment {
  times: number;
}

/** Returns one row for equal rejections of a client, with the latest of them. */
function groupRejections(rejections: readonly RejectionPartFragment[]): Group[] {
  const groups = new Map<string, Group>();
  for (const rejection of rejections) {
    const { integratorId, clientName, operation, status, reason } = rejection;
    const key = JSON.stringify([integratorId, clientName, operation, status, reason]);
    const group = groups.get(key);
    if (group) group.times++;
    else groups.set(key, { ...rejection, times: 1 });
  }
  return [...groups.values()];
}

/** The latest rejections, each with its reason in words; equal ones are counted. */
export function RejectionTable({ rejections }: { rejections: readonly RejectionPartFragment[] }) {
  const now = useNow(60_000);
  return (
    <Panel
      title="Latest rejections"
      aside={
        rejections.length > 0 && (
          <span className="soft small">{formatCount(rejections.length)}, equal ones in one row</span>
        )
      }
    >
      <DataTable
        name="Latest rejections"
        empty="No request was rejected"
        rows={groupRejections(rejections)}
        rowKey={({ requestId, at }) => `${requestId} ${at}`}
        columns={[
          { header: 'Reason', cell: ({ reason }) => <strong className="wrap">{toSentence(reason)}</strong> },
          {
            header: 'Client',
            cell: ({ integratorName, clientName }) => (
              <span>
                {clientName} <span className="soft">of {integratorName}</span>
              </span>
            ),
          },
          { header: 'Operation', cell: ({ operation }) => <Operation operation={operation} /> },
          { header: 'Status', cell: ({ status }) => status, number: true },
          { header: 'Times', cell: ({ times }) => formatCount(times), number: true },
          {
            header: 'Last',
            nowrap: true,
            cell: ({ at }) => (
              <time dateTime={at} title={at}>
                {formatAge(at, now)}
              </time>
            ),
          },
        ]}
      />
    </Panel>
  );
}

/** The operation, with breaks of lines at its slashes. */
const Operation = ({ operation }: { operation: string }) => (
  <code className="operation">
    {operation.split(/(?=\/)/).map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity.
      <Fragment key={index}>
        {part}
        <wbr />
      </Fragment>
    ))}
  </code>
);

const toSentence = (reason: string) => reason.charAt(0).toUpperCase() + reason.slice(1);
