/** A page of a gate in a browser, which `gate-browser.proof.test.ts` bundles and drives. */
import { createIndexedDbStore } from '../../sdk/src/gate/indexeddb-store.ts';
import { GateQueue } from '../../sdk/src/gate/queue.ts';
import { Roster } from '../../sdk/src/gate/roster.ts';
import { createClient } from '../../sdk/src/index.ts';

declare const settings: Parameters<typeof createClient>[0] & { builderId: string; projectId: string };
/** Tells the test that an event is stored, and the gate open. */
declare const open: (sourceEventId: string) => Promise<void>;

const { builderId, projectId } = settings;
const options = { client: createClient(settings), builderId, projectId, store: createIndexedDbStore() };
const roster = await Roster.open(options);
const gate = await GateQueue.open({ ...options, deviceId: 'tablet-1', maxRetryDelayMs: 5 });

/** Lets the worker in and out again, once for each time, while the events before are sent. */
async function record(workerId: string, times: string[]): Promise<void> {
  for (const time of times) {
    const on = await gate.signOn(workerId, new Date(time));
    await open(on.sourceEventId);
    void gate.deliver();
    const off = await gate.signOff(on, new Date(Date.parse(time) + 3_600_000));
    await open(off.sourceEventId);
  }
  await gate.deliver();
}

Object.assign(globalThis, { gate, roster, record });
