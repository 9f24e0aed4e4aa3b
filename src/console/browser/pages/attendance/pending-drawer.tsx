import { useState } from 'react';
import { Drawer, type RecordDrawerProps } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { TextField } from '../../components/fields.tsx';
import { EditConflict } from '../../components/notices.tsx';
import { CreateVisitDocument, DismissSignOffDocument } from '../../graphql/generated.ts';
import { useEdit, useVersion } from '../../graphql/use-version.ts';
import { formatTimeZone } from '../../shared/format.ts';
import { fromLocalInput, toLocalInput } from '../../shared/local-time.ts';
import { useScope } from '../../shared/scope.tsx';
import type { PendingSignOff } from './board-rows.ts';
import { DecisionForm } from './decision-form.tsx';

const CHOICES = [
  ['visit', 'Make a visit', 'The worker was on site. A sign-on that arrives later is a conflict.'],
  ['dismiss', 'Dismiss', 'The sign-off ends no visit.'],
] as const;

/** A sign-off that arrived before its sign-on, and what a person decides about it. */
export function PendingDrawer({ event, onClose, onChanged }: RecordDrawerProps & { event: PendingSignOff }) {
  const { can, timeZone } = useScope();
  const version = useVersion(event, onChanged);
  const action = useEdit(version);
  const [signedOn, setSignedOn] = useState('');
  const { id: signOnEventId, occurredAt } = event;
  const decide = async (choice: 'visit' | 'dismiss', reason: string) => {
    const settle = {
      visit: () =>
        action.edit(CreateVisitDocument, { signOnEventId, signedOnAt: fromLocalInput(signedOn, timeZone), reason }),
      dismiss: () => action.edit(DismissSignOffDocument, { signOnEventId, reason }),
    };
    if (!(await settle[choice]())) return;
    onClose();
    onChanged();
  };
  return (
    <Drawer title={event.worker.fullName} onClose={onClose}>
      <div>
        <span className="badge warn">Sign-off without sign-on</span>
      </div>
      <p className="notice">
        The gate sent a sign-off whose sign-on has not arrived. It is applied as soon as the gate delivers the sign-on,
        usually when its network is back.
      </p>
      <Facts
        facts={[
          ['Left at', <Instant key="at" at={occurredAt} />],
          ['Project', event.project.name],
          ['Integrator', event.integrator.name],
          ['Gate', event.deviceId],
          ['Waits for', <code key="for">{event.sourceSignOnEventId}</code>],
          ['Source id', <code key="id">{event.sourceEventId}</code>],
        ]}
      />
      {version.hasEditConflict && <EditConflict />}
      {can('visit.created') && (
        <DecisionForm action={action} choices={CHOICES} submit="Settle the sign-off" onDecide={decide}>
          {(choice) =>
            choice === 'visit' && (
              <TextField
                type="datetime-local"
                label={`Signed on at (${formatTimeZone(timeZone)})`}
                max={toLocalInput(occurredAt, timeZone)}
                value={signedOn}
                onChange={setSignedOn}
              />
            )
          }
        </DecisionForm>
      )}
    </Drawer>
  );
}
