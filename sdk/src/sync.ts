import { CursorExpiredError, NotFoundError } from './errors.ts';
import type { Event, FollowedEvents, FollowOptions } from './events.ts';
import type { CallOptions } from './transport.ts';

/** A record of the copy, exactly as the API returns it. */
export interface SyncedRecord {
  id: string;
  /** Path that it was read from: that of a list, or its own. */
  path: string;
  builderId: string;
  record: object;
}

/** Your copy: a table of records by id, and one cursor. */
export interface SyncStore {
  loadCursor(): Promise<string | null>;
  /** Called after the records of the events before the cursor have been put. */
  saveCursor(cursor: string): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Inserts or replaces. */
  put(records: SyncedRecord[]): Promise<void>;
  /** Removes a record and those of its lists, whose `path` contains `/{id}/`. */
  remove(id: string): Promise<void>;
  clear(): Promise<void>;
}

/** A copy in memory, for tests and small companies. */
export class MemoryStore implements SyncStore {
  readonly records = new Map<string, SyncedRecord>();
  cursor: string | null = null;

  async loadCursor() {
    return this.cursor;
  }
  async saveCursor(cursor: string) {
    this.cursor = cursor;
  }
  async has(id: string) {
    return this.records.has(id);
  }
  async put(records: SyncedRecord[]) {
    for (const record of records) this.records.set(record.id, record);
  }
  async remove(id: string) {
    for (const [key, { path }] of this.records) if (key === id || path.includes(`/${id}/`)) this.records.delete(key);
  }
  async clear() {
    this.records.clear();
  }
}

/** Reads a path of the API; `builderId` is for the header. */
export type Get = (path: string, builderId: string | undefined, options: CallOptions) => Promise<Answer>;

/** A page of a list, or a record, which has an `id`. */
interface Answer {
  id?: string;
  data?: unknown;
  meta?: { nextCursor: string | null };
}

const SOURCES = ['GALLERY', 'SITE_DIARY', 'PRE_START', 'CHECKLIST', 'ITP', 'PLATFORM_ACTION', 'DEFECT'];
const BUILDER = '/builders/BUILDER';
/** Lists of a record, by the prefix of its id. */
const LISTS: Record<string, string[]> = {
  buil: [
    `${BUILDER}/projects`,
    `${BUILDER}/meetings`,
    `${BUILDER}/defects`,
    `${BUILDER}/photo-folders`,
    `${BUILDER}/photos?source=${SOURCES.join('&source=')}`,
    '/timesheets',
    '/timesheets/cost-codes',
    '/timesheets/time-types',
    '/subcontractors',
  ],
  proj: [`${BUILDER}/projects/ID/inductions`],
  meet: [`${BUILDER}/meetings/ID/notes`],
  sub: ['swms', 'prequalifications', 'insurances', 'contacts'].map((name) => `/subcontractors/ID/${name}`),
};

/** Keeps a copy of everything that the client's token reads. */
export class Synchronization {
  readonly #get: Get;
  readonly #follow: (options: FollowOptions) => AsyncGenerator<FollowedEvents>;
  readonly #store: SyncStore;
  readonly #options: CallOptions;

  constructor(
    get: Get,
    follow: (options: FollowOptions) => AsyncGenerator<FollowedEvents>,
    store: SyncStore,
    options: CallOptions,
  ) {
    this.#get = get;
    this.#follow = follow;
    this.#store = store;
    this.#options = options;
  }

  /** Copies, then applies every change. Yields after each step, when the copy has all changes before the cursor; ends with the signal. */
  async *run(): AsyncGenerator<FollowedEvents> {
    for (;;) {
      const after = (await this.#store.loadCursor()) ?? (await this.#copy());
      yield { events: [], cursor: after };
      try {
        for await (const followed of this.#follow({ ...this.#options, after })) {
          await this.#apply(followed.events);
          await this.#store.saveCursor(followed.cursor);
          yield followed;
        }
      } catch (error) {
        if (!(error instanceof CursorExpiredError)) throw error;
        await this.#copy();
      }
    }
  }

  /** Copies all lists into the emptied store. The cursor is from before: what changes meanwhile comes again as an event. */
  async #copy(): Promise<string> {
    const { value } = (await this.#follow(this.#options).next()) as { value: FollowedEvents };
    await this.#store.clear();
    await this.#read('/builders');
    await this.#store.saveCursor(value.cursor);
    return value.cursor;
  }

  async #apply(events: Event[]): Promise<void> {
    for (const { type, resource } of events) if (type.endsWith('.archived')) await this.#store.remove(resource.id);
    const paths = new Map<string, Event[]>();
    for (const event of events) {
      const { type, builderId, resource } = event;
      // v1 reads no single meeting.
      const path = type.startsWith('meeting.') ? `/builders/${builderId}/meetings` : resource.path;
      if (path === null) continue;
      const key = `${builderId} ${path}`;
      paths.set(key, [...(paths.get(key) ?? []), event]);
    }
    for (const [key, [first, ...others]] of paths) {
      const [builderId, path] = key.split(' ') as [string, string];
      const { resource, occurredAt } = first!;
      if (path.includes(resource.id)) {
        if (!(await this.#read(path, builderId))) await this.#store.remove(resource.id);
        continue;
      }
      const since = others.reduce(
        (earliest, other) => (other.occurredAt < earliest ? other.occurredAt : earliest),
        occurredAt,
      );
      await this.#read(`${path}?updatedSince=${since}`, builderId);
    }
  }

  /** Reads a record or all pages of a list, and the lists of each record that is new. Returns whether the path exists. */
  async #read(path: string, builderId?: string): Promise<boolean> {
    const base = `${path}${path.includes('?') ? '&' : '?'}includeBuilderCompany=true`;
    for (let cursor: string | null = ''; cursor !== null; ) {
      let page: Answer;
      try {
        page = await this.#get(`${base}&cursor=${cursor}`, builderId, this.#options);
      } catch (error) {
        if (error instanceof NotFoundError) return false;
        throw error;
      }
      const isRecord = page.id !== undefined;
      // Only single records have `data`: the answers of an induction.
      const answers = (isRecord ? [page] : page.data) as { id: string; data?: unknown }[];
      const rows = answers.map(({ data: _answers, ...record }) => record);
      const added: string[] = [];
      for (const { id } of rows) if (!(await this.#store.has(id))) added.push(id);
      await this.#store.put(rows.map((record) => ({ id: record.id, path, builderId: builderId ?? record.id, record })));
      for (const id of added) {
        const builder = builderId ?? id;
        for (const list of LISTS[id.split('_', 1)[0]!] ?? [])
          await this.#read(list.replace('BUILDER', builder).replace('ID', id), builder);
      }
      cursor = isRecord ? null : (page.meta?.nextCursor ?? null);
    }
    return true;
  }
}
