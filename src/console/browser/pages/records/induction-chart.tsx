import { ChartPanel } from '../../components/chart-panel.tsx';
import { Loaded } from '../../components/states.tsx';
import { formatStatus } from '../../components/status-badge.tsx';
import { InductionFiguresDocument, type InductionStatus } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatCount, formatPlural } from '../../shared/format.ts';

export const INDUCTION_STATUSES = [
  'WAITING_REVIEW',
  'CHANGES_REQUESTED',
  'REVIEWED',
] as const satisfies InductionStatus[];

/** Inductions by status, each of which filters the list. */
export function InductionChart({ builderId, projectId }: { builderId: string; projectId: string | undefined }) {
  const filters = useFilters();
  const request = useRequest(InductionFiguresDocument, { builderId, projectId }, { live: true });
  return (
    <Loaded request={request} lines={2}>
      {({ inductionsByStatus }) => {
        const countOf = (status: InductionStatus) =>
          inductionsByStatus.find((point) => point.status === status)?.inductions ?? 0;
        return (
          <div className="columns figures">
            <ChartPanel
              heading="Inductions by status"
              summary={formatPlural(
                INDUCTION_STATUSES.reduce((sum, status) => sum + countOf(status), 0),
                'induction',
              )}
              title="Inductions by status"
              labelHeader="Status"
              unit="Inductions"
              labels={INDUCTION_STATUSES.map(formatStatus)}
              series={[{ name: 'Inductions', values: INDUCTION_STATUSES.map(countOf) }]}
              height={150}
            />
            <div className="stats column">
              {INDUCTION_STATUSES.map((status) => (
                <button key={status} type="button" className="stat" onClick={() => filters.set({ status })}>
                  <b className={status !== 'REVIEWED' && countOf(status) > 0 ? 'warn' : undefined}>
                    {formatCount(countOf(status))}
                  </b>
                  <span>{formatStatus(status)}</span>
                </button>
              ))}
            </div>
          </div>
        );
      }}
    </Loaded>
  );
}
