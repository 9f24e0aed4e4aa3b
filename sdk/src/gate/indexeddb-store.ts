import type { GateEvent, GateResult, GateStore } from './queue.ts';
import type { RosterState, RosterStore } from './roster.ts';

const EVENTS = 'events';
const RESULTS = 'results';
/** Has one value, under its own name. */
const ROSTER = 'roster';

/** Returns a store in the browser's database, for one tab at a time. */
export function createIndexedDbStore(name = 'builder-integration-gate'): GateStore & RosterStore {
  let opened: Promise<IDBDatabase> | undefined;
  const openDatabase = () => {
    opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => {
        for (const store of [EVENTS, RESULTS]) request.result.createObjectStore(store, { keyPath: 'sourceEventId' });
        request.result.createObjectStore(ROSTER);
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return opened;
  };

  async function write(change: (transaction: IDBTransaction) => void): Promise<void> {
    const database = await openDatabase();
    await new Promise<void>((resolve, reject) => {
      // `strict`: on the disk when the transaction is complete.
      const transaction = database.transaction([EVENTS, RESULTS, ROSTER], 'readwrite', { durability: 'strict' });
      transaction.oncomplete = () => resolve();
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
      change(transaction);
    });
  }

  async function readAll<T>(store: string): Promise<T[]> {
    const database = await openDatabase();
    return new Promise((resolve, reject) => {
      const request = database.transaction(store).objectStore(store).getAll();
      request.onsuccess = () => resolve(request.result as T[]);
      request.onerror = () => reject(request.error);
    });
  }

  return {
    async load() {
      const [events, results] = await Promise.all([readAll<GateEvent>(EVENTS), readAll<GateResult>(RESULTS)]);
      // The database orders by id; a queue is in the order of time.
      events.sort((first, second) => first.occurredAt.localeCompare(second.occurredAt));
      return { events, results };
    },
    addEvents: (events) =>
      write((transaction) => {
        for (const event of events) transaction.objectStore(EVENTS).put(event);
      }),
    addResult: (result) => write((transaction) => transaction.objectStore(RESULTS).put(result)),
    remove: (sourceEventIds) =>
      write((transaction) => {
        for (const store of [EVENTS, RESULTS])
          for (const id of sourceEventIds) transaction.objectStore(store).delete(id);
      }),
    loadRoster: async () => (await readAll<RosterState>(ROSTER))[0] ?? null,
    saveRoster: (state) => write((transaction) => transaction.objectStore(ROSTER).put(state, ROSTER)),
  };
}
