import { useState } from 'react';
import { ActionButtons } from '../../components/action-buttons.tsx';
import { ActionForm } from '../../components/action-form.tsx';
import { Drawer, type RecordDrawerProps } from '../../components/drawer.tsx';
import { EVENT_NAMES, Facts, Instant } from '../../components/facts.tsx';
import { TextField } from '../../components/fields.tsx';
import { EditConflict } from '../../components/notices.tsx';
import { ArchiveVisitDocument, CloseVisitDocument, UsualEndDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useEdit, useVersion, type Version } from '../../graphql/use-version.ts';
import { formatDuration, formatTime, formatTimeZone, toCalendarDate } from '../../shared/format.ts';
import { fromLocalInput, toLocalInput } from '../../shared/local-time.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { useNow } from '../../shared/use-now.ts';
import { getDuration, getEnd, getState, isLong, LONG, proposeEnd, VISIT_STATES, type Visit } from './board-rows.ts';

/** A visit with its events, and its corrections. */
export function VisitDrawer({ visit, onClose, onChanged }: RecordDrawerProps & { visit: Visit }) {
  const now = useNow();
  const { can } = useScope();
  const version = useVersion(visit, onChanged);
  const action = useEdit(version);
  const archive = async () => {
    if (await action.edit(ArchiveVisitDocument, { visitId: visit.id })) onClose();
  };
  const end = getEnd(visit);
  const [label, tone] = VISIT_STATES[getState(visit)];
  return (
    <Drawer title={visit.worker.fullName} onClose={onClose}>
      <div>
        <span className={`badge ${tone}`}>{label}</span>{' '}
        {isLong(visit, now) && <span className="badge warn">{LONG}</span>}{' '}
        {visit.closingReason && !visit.closedAt && <span className="badge">Sign-on stated by a person</span>}
      </div>
      <Facts
        facts={[
          ['Signed on', <Instant key="on" at={visit.signedOnAt} />],
          ['Signed off', visit.signedOffAt && <Instant key="off" at={visit.signedOffAt} />],
          ['Closed', visit.closedAt && <Instant key="closed" at={visit.closedAt} />],
          ['Closed by', visit.closedBy],
          ['Reason', visit.closingReason],
          ['Duration', formatDuration(getDuration(visit, now))],
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
      {version.hasEditConflict && <EditConflict />}
      {end === null && can('visit.closed') && <CloseForm version={version} onClosed={onClose} />}
      {can('visit.archived') && (
        <ActionButtons
          action={action}
          buttons={[['Archive the visit', archive, 'The visit leaves attendance and its figures.']]}
        />
      )}
    </Drawer>
  );
}

function CloseForm({ version, onClosed }: { version: Version<Visit>; onClosed: () => void }) {
  const { id: builderId, timeZone } = useBuilder();
  const action = useEdit(version);
  const { id: visitId, project, signedOnAt } = version.record;
  const date = toCalendarDate(signedOnAt, timeZone);
  const usualEnd = useRequest(UsualEndDocument, { builderId, projectId: project.id, date }).data?.usualEnd ?? null;
  const proposed = proposeEnd(signedOnAt, usualEnd, Date.now());
  const [typed, setTyped] = useState<string>();
  const at = typed ?? (proposed === null ? '' : toLocalInput(proposed, timeZone));
  const [reason, setReason] = useState('');
  const submit = async () => {
    const variables = { visitId, at: fromLocalInput(at, timeZone), reason };
    if (await action.edit(CloseVisitDocument, variables)) onClosed();
  };
  return (
    <ActionForm className="side" action={action} onSubmit={submit} submit="End the visit">
      <h3>End this visit</h3>
      <p className="soft small">
        For a worker who left without signing off. A sign-off that arrives later is a conflict, and changes nothing.
        {usualEnd && ` Visits to ${project.name} usually end at ${formatTime(usualEnd, timeZone)}.`}
      </p>
      <TextField type="datetime-local" label={`Left at (${formatTimeZone(timeZone)})`} value={at} onChange={setTyped} />
      <TextField label="Reason" maxLength={500} value={reason} onChange={setReason} />
    </ActionForm>
  );
}
