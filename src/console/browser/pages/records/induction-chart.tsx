import { Loaded } from '../../components/states.tsx';
import { formatStatus } from '../../components/status-badge.tsx';
import { InductionFiguresDocument, type InductionStatus } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatCount } from '../../shared/format.ts';

const STATUSES = ['WAITING_REVIEW', 'CHANGES_REQUESTED', 'REVIEWED'] as const satisfies InductionStatus[];

/** Inductions by status, each of which filters the list. */
export function InductionChart({ builderId, projectId }: { builderId: string; projectId: string }) {
  const filters = useFilters();
  const request = useRequest(InductionFiguresDocument, { builderId, projectId }, { live: true });
  return (
    <Loaded request={request} lines={2}>
      {({ inductionsByStatus }) => (
        <div className="stats">
          {STATUSES.map((status) => {
            const count = inductionsByStatus.find((point) => point.status === status)?.inductions ?? 0;
            return (
              <button key={status} type="button" className="stat" onClick={() => filters.set({ status })}>
                <b className={status !== 'REVIEWED' && count > 0 ? 'warn' : undefined}>{formatCount(count)}</b>
                <span>{formatStatus(status)}</span>
              </button>
            );
          })}
        </div>
      )}
    </Loaded>
  );
}
