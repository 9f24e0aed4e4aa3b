/** A gate as a process of its own, which `gate-week.proof.test.ts` kills: records visits, prints the id of each stored event, and delivers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createFileStore } from '../../sdk/src/gate/file-store.ts';
import { GateQueue } from '../../sdk/src/gate/queue.ts';
import { createClient } from '../../sdk/src/index.ts';

const { folder, options, visits, ...site } = JSON.parse(process.argv[2]!);
const client = createClient(options);
const gate = await GateQueue.open({ ...site, client, store: createFileStore(folder), maxRetryDelayMs: 20 });

let isRecording = true;
async function deliver(): Promise<void> {
  while (isRecording) {
    await gate.deliver();
    await sleep(1);
  }
}
const delivering = deliver();
for (const { workerId, signedOnAt, signedOffAt } of visits) {
  const on = await gate.signOn(workerId, new Date(signedOnAt));
  console.log(on.sourceEventId);
  const off = await gate.signOff(on, new Date(signedOffAt));
  console.log(off.sourceEventId);
}
isRecording = false;
await delivering;
await gate.deliver();
