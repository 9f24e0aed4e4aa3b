import { useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { ConfirmButton } from '../../components/confirm-button.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { EditConflict } from '../../components/edit-conflict.tsx';
import { EVENT_NAMES, Facts, Instant } from '../../components/facts.tsx';
import { Problem } from '../../components/problem.tsx';
import { ArchiveVisitDocument, CloseVisitDocument } from '../../graphql/generated.ts';
import { useAction } from '../../graphql/use-action.ts';
import { useVersion } from '../../graphql/use-version.ts';
import { formatDuration, formatTimeZone } from '../../shared/format.ts';
import { fromLocalInput, toLocalInput } from '../../shared/local-time.ts';
import { useScope } from '../../shared/scope.tsx';
import { getEnd, getState, type Visit } from './board-rows.ts';

const STATES = {
  open: ['On site', 'good'],
  ended: ['Signed off', 'brand'],
  closed: ['Closed by a person', 'warn'],
  anomaly: ['Sign-off before sign-on', 'bad'],
} as const;

interface Props {
  visit: Visit;
  now: number;
  onClose: () => void;
  /** Reads the visit again. */
  onChanged: () => void;
}

/** A visit with its events, and its corrections. */
export function VisitDrawer({ visit, now, onClose, onChanged }: Props) {
  const { can } = useScope();
  const { expectedUpdatedAt, hasEditConflict, settle } = useVersion(visit);
  const change = {
    ...{ visitId: visit.id, expectedUpdatedAt },
    onFinished(done: boolean, isEditConflict: boolean) {
      settle(null, isEditConflict);
      if (done) onClose();
      else if (isEditConflict) onChanged();
    },
  };
  const end = getEnd(visit);
  const [label, tone] = STATES[getState(visit)];
  return (
    <Drawer title={visit.worker.fullName} onClose={onClose}>
      <div>
        <span className={`badge ${tone}`}>{label}</span>
      </div>
      <Facts
        facts={[
          ['Signed on', <Instant key="on" at={visit.signedOnAt} />],
          ['Signed off', visit.signedOffAt && <Instant key="off" at={visit.signedOffAt} />],
          ['Closed', visit.closedAt && <Instant key="closed" at={visit.closedAt} />],
          ['Closed by', visit.closedBy],
          ['Reason', visit.closingReason],
          ['Duration', formatDuration((end ? Date.parse(end) : now) - Date.parse(visit.signedOnAt))],
        ]}
      />
      <section className="stack">
        <h3>Events from gates</h3>
        <ol className="events">
          {visit.events.data.map((event) => (
            <li key={event.id} className="side">
              <h3>
                {EVENT_NAMES[event.type]}
                <Instant at={event.occurredAt} />
              </h3>
              <span className="soft small wrap">
                {event.integrator.name}
                {event.deviceId && `, gate ${event.deviceId}`}. Received <Instant at={event.createdAt} />. Source id{' '}
                <code>{event.sourceEventId}</code>
              </span>
            </li>
          ))}
        </ol>
      </section>
      {hasEditConflict && <EditConflict />}
      {end === null && can('visit.closed') && <CloseForm {...change} />}
      {can('visit.archived') && <ArchiveForm {...change} />}
    </Drawer>
  );
}

interface Change {
  visitId: string;
  expectedUpdatedAt: string;
  onFinished: (done: boolean, isEditConflict: boolean) => void;
}

function CloseForm({ onFinished, ...version }: Change) {
  const { timeZone } = useScope();
  const action = useAction(CloseVisitDocument);
  const [at, setAt] = useState(() => toLocalInput(Date.now(), timeZone));
  const [reason, setReason] = useState('');
  const submit = async () => {
    const { data, isEditConflict } = await action.run({ ...version, at: fromLocalInput(at, timeZone), reason });
    onFinished(data !== null, isEditConflict);
  };
  return (
    <ActionForm className="side" action={action} onSubmit={submit} submit="End the visit">
      <h3>End this visit</h3>
      <p className="soft small">
        For a worker who left without signing off. A sign-off that arrives later is a conflict, and changes nothing.
      </p>
      <label className="field">
        Left at ({formatTimeZone(timeZone)})
        <input type="datetime-local" required value={at} onChange={({ target }) => setAt(target.value)} />
      </label>
      <label className="field">
        Reason
        <input required maxLength={500} value={reason} onChange={({ target }) => setReason(target.value)} />
      </label>
    </ActionForm>
  );
}

function ArchiveForm({ onFinished, ...version }: Change) {
  const action = useAction(ArchiveVisitDocument);
  const archive = async () => {
    const { data, isEditConflict } = await action.run(version);
    onFinished(data !== null, isEditConflict);
  };
  return (
    <section className="stack">
      <Problem error={action.error} />
      <div className="actions">
        <ConfirmButton
          label="Archive the visit"
          effect="The visit leaves attendance and its figures."
          disabled={action.running}
          onConfirm={archive}
        />
      </div>
    </section>
  );
}
