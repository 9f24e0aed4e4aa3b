import { join } from 'node:path';
import { createClient } from '../../../sdk/src/client.ts';
import { createFileStore } from '../../../sdk/src/gate/file-store.ts';
import { type GateEvent, type GateOptions, GateQueue } from '../../../sdk/src/gate/queue.ts';
import { DAY, MINUTE } from '../../demo/local-calendar.ts';
import { Random } from '../../demo/random.ts';
import { CliError } from '../cli-error.ts';

/** No network until the last day; lost responses; doubled requests; clocks that are wrong by up to five minutes; power cuts. */
export const GATE_FAULTS = ['offline', 'lost', 'duplicate', 'clock', 'power'] as const;

export interface SimulationOptions {
  /** Credentials of the integrator whose gates these are. */
  connection: Parameters<typeof createClient>[0];
  site: Pick<GateOptions, 'builderId' | 'projectId'>;
  gates: number;
  workers: number;
  days: number;
  faults: readonly string[];
  seed: number;
  /** For the journals of the gates. */
  folder: string;
  log(line: string): void;
}

/**
 * Plays gates in the days before now: workers come in the morning and leave in the afternoon, by any of the gates. Then compares what the gates
 * have recorded with what the service has of them: `surprises` says which events were lost, doubled, changed, refused or left pending.
 */
export async function simulateGates(options: SimulationOptions) {
  const { site, days, faults, log } = options;
  const startedAt = Date.now();
  const random = new Random('gates', options.seed);
  /** Prefix of the devices of this run. */
  const run = `sim-${startedAt.toString(36)}-`;
  const network = { requests: 0, lost: 0, duplicates: 0 };
  let isOffline = false;
  const client = createClient(options.connection);
  const workers: string[] = [];
  for await (const { status, workerId } of client.siteAccess.list(site))
    if (status === 'ACTIVE') workers.push(workerId);
  if (workers.length < options.workers)
    throw CliError.forOption('--workers', `${workers.length} workers have access to the site`);
  workers.length = options.workers;
  const gates = await Promise.all(Array.from({ length: options.gates }, (_, index) => openGate(index)));

  const recorded: GateEvent[] = [];
  for (let day = 0; day < days; day++) {
    isOffline = faults.includes('offline') && day < days - 1;
    const morning = startedAt - (days - day) * DAY;
    const comeIn = (workerId: string) => {
      const { queue, clockError } = random.pick(gates);
      return queue.signOn(workerId, new Date(morning + random.between(0, 90) * MINUTE + clockError));
    };
    const leave = (on: GateEvent) =>
      random.pick(gates).queue.signOff(on, new Date(Date.parse(on.occurredAt) + random.between(480, 540) * MINUTE));
    const signedOn = await Promise.all(random.sample(workers).map(comeIn));
    const ending = new AbortController();
    const delivering = gates.map(({ queue }) => queue.deliver(ending.signal).catch(() => {}));
    // Some forget to sign off.
    const signedOff = await Promise.all(signedOn.filter(() => !random.chance(0.02)).map(leave));
    ending.abort();
    await Promise.all(delivering);
    // A power cut in the middle of a delivery leaves only the journal.
    if (faults.includes('power')) for (const gate of gates) gate.queue = await gate.openQueue();
    recorded.push(...signedOn, ...signedOff);
    const pending = gates.reduce((sum, { queue }) => sum + queue.pending.length, 0);
    log(`Day ${day + 1} of ${days}: ${recorded.length} events, of which ${pending} are not delivered.`);
  }
  // Ahead of the service's clock, which accepts five seconds: the gate sends it two seconds later.
  if (faults.includes('clock')) recorded.push(await gates[0]!.queue.signOn(workers[0]!, new Date(Date.now() + 7_000)));
  await Promise.all(gates.map(({ queue }) => queue.deliver()));
  const surprises = await findSurprises();
  return { recorded: recorded.length, ...network, seconds: Math.round((Date.now() - startedAt) / 1000), surprises };

  async function openGate(index: number) {
    const deviceId = `${run}${index}`;
    const store = createFileStore(join(options.folder, deviceId));
    const chances = new Random('network', options.seed, index);
    const happens = (fault: 'lost' | 'duplicate') => faults.includes(fault) && chances.chance(0.1);
    const failing: typeof fetch = async (request, init) => {
      if (isOffline) throw new TypeError('The gate is offline.');
      network.requests++;
      if (happens('duplicate')) {
        network.duplicates++;
        await fetch((request as Request).clone(), init);
      }
      const response = await fetch(request, init);
      if (!happens('lost')) return response;
      network.lost++;
      throw new TypeError('The response was lost.');
    };
    const gateClient = createClient({ ...options.connection, fetch: failing, retryDelayMs: 10 });
    const openQueue = () => GateQueue.open({ ...site, client: gateClient, store, deviceId, maxRetryDelayMs: 1_000 });
    /** Milliseconds by which its clock is wrong. */
    const clockError = faults.includes('clock') ? random.between(-5, 5) * MINUTE : 0;
    return { queue: await openQueue(), openQueue, clockError };
  }

  /** Compares with the integrator's own events and conflicts. */
  async function findSurprises(): Promise<string[]> {
    const surprises: string[] = [];
    const changes = { ...site, updatedSince: new Date(startedAt - MINUTE).toISOString() };
    const isOfRun = ({ deviceId }: GateEvent) => deviceId?.startsWith(run);
    const missing = new Set(recorded.map(describe));
    for await (const event of client.signOnEvents.list(changes))
      if (isOfRun(event) && !missing.delete(describe(event)))
        surprises.push(`${describe(event)} is not as it was sent.`);
    for (const event of missing) surprises.push(`${event} is missing.`);
    for await (const { event, code } of client.signOnConflicts.list(changes))
      if (isOfRun(event)) surprises.push(`${event.sourceEventId} is in conflict: ${code}.`);
    const refused = gates.flatMap(({ queue }) => queue.refused);
    return [...surprises, ...refused.map(({ sourceEventId, code }) => `${sourceEventId} is refused: ${code}.`)];
  }
}

/** Returns an event in words. One that a gate has recorded is to be applied. */
const describe = ({ status = 'APPLIED', sourceEventId: id, ...event }: GateEvent & { status?: string }) =>
  [id, event.type, event.sourceSignOnEventId, event.workerId, event.occurredAt, event.deviceId, status].join(' ');
