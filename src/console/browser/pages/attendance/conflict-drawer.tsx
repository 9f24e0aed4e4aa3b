import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { EVENT_NAMES, Facts, Instant } from '../../components/facts.tsx';
import { Glyph } from '../../components/glyph.tsx';
import { EditConflict } from '../../components/notices.tsx';
import { Loaded } from '../../components/states.tsx';
import { type ConflictResolution, OneConflictDocument, ResolveConflictDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useEdit, useVersion } from '../../graphql/use-version.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatPlural } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import type { Conflict } from './board-rows.ts';
import { DecisionForm } from './decision-form.tsx';

const RESOLUTIONS = [
  ['KEEP_RECORD', 'Keep the record', 'What is recorded is right. The event stays refused.'],
  ['USE_EVENT_TIME', 'Use the time of the gate', 'The visit ends when the gate saw the worker leave.'],
] as const;

interface Props {
  id: string;
  onClose: () => void;
  /** Open conflicts of the page, the newest first. */
  others: readonly Conflict[];
}

/** Both sides of a conflict, and the decision. It is read again while it is open, because another person may decide first. */
export function ConflictDrawer({ id, onClose, others }: Props) {
  const filters = useFilters();
  const request = useRequest(OneConflictDocument, { id }, { live: true });
  const left = others.filter((other) => other.id !== id);
  const next = left.find((other) => Number(other.id) < Number(id)) ?? left[0];
  return (
    <Drawer title={request.data ? `Conflict: ${request.data.conflict.worker.fullName}` : 'Conflict'} onClose={onClose}>
      <Loaded request={request}>
        {({ conflict }) => (
          <ConflictContent key={conflict.id} conflict={conflict} onChanged={request.retry}>
            {next && (
              <Button onClick={() => filters.set({ conflict: next.id })}>
                Next conflict: {next.worker.fullName} <Glyph name="next" />
              </Button>
            )}
          </ConflictContent>
        )}
      </Loaded>
    </Drawer>
  );
}

interface ContentProps {
  conflict: Conflict;
  onChanged: () => void;
  /** Leads to the next conflict. */
  children: ReactNode;
}

function ConflictContent({ conflict: read, onChanged, children }: ContentProps) {
  const { can } = useScope();
  const version = useVersion(read, onChanged);
  const action = useEdit(version);
  const { record: conflict, hasEditConflict } = version;
  const { id, recordedEvent: recorded, visit } = conflict;
  const resolved = conflict.state === 'RESOLVED';
  // Only a sign-off of a visit that no gate has ended has a time that the visit could end at.
  const canEnd = conflict.type === 'SIGN_OFF' && visit?.signedOffAt === null;
  const resolve = (resolution: ConflictResolution, reason: string) =>
    action.edit(ResolveConflictDocument, { id, resolution, reason }, ({ resolveConflict }) => resolveConflict);
  return (
    <>
      <div className="actions">
        <span className={`badge ${resolved ? 'good' : 'bad'}`}>{resolved ? 'Resolved' : 'Open'}</span>
        <span className="badge">{conflict.project.name}</span>
        {children}
      </div>
      <p>{conflict.description}</p>
      {hasEditConflict && <EditConflict />}
      <div className="sides">
        <section className="side">
          <h3>The gate sent</h3>
          <Facts
            facts={[
              [EVENT_NAMES[conflict.type], <Instant seconds key="at" at={conflict.occurredAt} />],
              ['Worker', conflict.worker.fullName],
              ['Integrator', conflict.integrator.name],
              ['Gate', conflict.deviceId],
              ['Source id', <code key="id">{conflict.sourceEventId}</code>],
              ['Of the sign-on', conflict.sourceSignOnEventId && <code key="on">{conflict.sourceSignOnEventId}</code>],
              ['Received', <Instant seconds key="received" at={conflict.createdAt} />],
              ['Refused', formatPlural(conflict.answers, 'time')],
            ]}
          />
        </section>
        <section className="side">
          <h3>Recorded</h3>
          {!recorded && !visit && <p className="soft">Nothing is recorded that the event could belong to.</p>}
          {recorded && (
            <Facts
              facts={[
                [EVENT_NAMES[recorded.type], <Instant seconds key="at" at={recorded.occurredAt} />],
                ['Worker of the event', recorded.worker.fullName],
                ['Integrator', recorded.integrator.name],
                ['Gate', recorded.deviceId],
                ['Received', <Instant seconds key="received" at={recorded.createdAt} />],
              ]}
            />
          )}
          {visit && (
            <Facts
              facts={[
                ['Visit of', visit.worker.fullName],
                ['Signed on', <Instant seconds key="on" at={visit.signedOnAt} />],
                ['Signed off', visit.signedOffAt && <Instant seconds key="off" at={visit.signedOffAt} />],
                ['Closed', visit.closedAt && <Instant seconds key="closed" at={visit.closedAt} />],
                ['Closed by', visit.closedBy],
                ['Reason', visit.closingReason],
                ['State', visit.signedOffAt || visit.closedAt ? null : 'Still on site'],
              ]}
            />
          )}
        </section>
      </div>
      {resolved && (
        <section className="notice good">
          <strong>{RESOLUTIONS.find(([value]) => value === conflict.resolution)?.[1]}</strong>
          <p>{conflict.resolutionReason}</p>
          <p className="small">
            {conflict.resolvedBy}, {conflict.resolvedAt && <Instant at={conflict.resolvedAt} />}
          </p>
        </section>
      )}
      {!resolved && can('conflict.resolved') && (
        <DecisionForm
          action={action}
          choices={RESOLUTIONS.slice(0, canEnd ? 2 : 1)}
          submit="Resolve the conflict"
          onDecide={resolve}
        />
      )}
    </>
  );
}
