import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import type { PendingSignOff } from './board-rows.ts';

/** A sign-off that arrived before its sign-on. */
export const PendingDrawer = ({ event, onClose }: { event: PendingSignOff; onClose: () => void }) => (
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
        ['Left at', <Instant key="at" at={event.occurredAt} />],
        ['Integrator', event.integrator.name],
        ['Gate', event.deviceId],
        ['Waits for', <code key="for">{event.sourceSignOnEventId}</code>],
        ['Source id', <code key="id">{event.sourceEventId}</code>],
      ]}
    />
  </Drawer>
);
