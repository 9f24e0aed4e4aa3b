import { ApiError, CursorExpiredError, ForbiddenError, NotFoundError } from './errors.ts';
import type { Event, FollowedEvents, FollowOptions } from './events.ts';
import { type DownloadOptions, type SnapshotDownload, SnapshotError } from './snapshots.ts';
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
/** Paths of the lists of a record, by the prefix of its id and the resource of a snapshot. */
const LISTS: Record<string, Record<string, string>> = {
  buil: {
    projects: '/builders/BUILDER/projects',
    meetings: '/builders/BUILDER/meetings',
    defects: '/builders/BUILDER/defects',
    photo_folders: '/builders/BUILDER/photo-folders',
    photos: `/builders/BUILDER/photos?source=${SOURCES.join('&source=')}`,
    timesheets: '/timesheets',
    cost_codes: '/timesheets/cost-codes',
    time_types: '/timesheets/time-types',
    subcontractors: '/subcontractors',
  },
  proj: { inductions: '/builders/BUILDER/projects/ID/inductions' },
  meet: { meeting_notes: '/builders/BUILDER/meetings/ID/notes' },
  sub: {
    swms_documents: '/subcontractors/ID/swms',
    prequalifications: '/subcontractors/ID/prequalifications',
    insurances: '/subcontractors/ID/insurances',
    contacts: '/subcontractors/ID/contacts',
  },
};
const LIST_OF_RESOURCE: Record<string, string> = Object.assign({}, ...Object.values(LISTS));
const toPath = (list: string, builderId: string, id: string) => list.replace('BUILDER', builderId).replace('ID', id);
/** Records that a snapshot puts at once. */
const BATCH_SIZE = 500;

/** What a copy reads from. */
interface Sources {
  get: Get;
  follow(options: FollowOptions): AsyncGenerator<FollowedEvents>;
  download(options: DownloadOptions, callOptions: CallOptions): Promise<SnapshotDownload>;
}

/**
 * Keeps a copy of everything that the client's token reads: copies, then applies every change. Yields after each step, when the copy has all
 * changes before the cursor; ends with the signal.
 */
export async function* synchronize(
  { get, follow, download }: Sources,
  store: SyncStore,
  options: CallOptions,
): AsyncGenerator<FollowedEvents> {
  for (;;) {
    const after = (await store.loadCursor()) ?? (await copy());
    yield { events: [], cursor: after };
    try {
      for await (const followed of follow({ ...options, after })) {
        await apply(followed.events);
        await store.saveCursor(followed.cursor);
        yield followed;
      }
    } catch (error) {
      if (!(error instanceof CursorExpiredError)) throw error;
      await copy();
    }
  }

  /** Copies everything into the emptied store. The cursor is from before: what changes meanwhile comes again as an event. */
  async function copy(): Promise<string> {
    const { value } = (await follow(options).next()) as { value: FollowedEvents };
    await store.clear();
    await read('/builders');
    await store.saveCursor(value.cursor);
    return value.cursor;
  }

  /** Puts the records of a snapshot of the builder. Returns false where the client gets none: the lists have the same records. */
  async function copySnapshot(builderId: string): Promise<boolean> {
    const copied = await download({ builderId }, options).catch((error: unknown) => {
      // In the name of a person, or after the snapshots of the day.
      if (error instanceof SnapshotError || (error instanceof ApiError && error.status < 500)) return null;
      throw error;
    });
    const batch: SyncedRecord[] = [];
    for await (const { resource, parent, record } of copied?.records ?? []) {
      const { [resource]: list } = LIST_OF_RESOURCE;
      // Projects of a subcontractor are records of the builder too.
      if (list === undefined) continue;
      batch.push({ id: record.id, path: toPath(list, builderId, parent?.id ?? ''), builderId, record });
      if (batch.length === BATCH_SIZE) await store.put(batch.splice(0));
    }
    await store.put(batch);
    return copied !== null;
  }

  async function apply(events: Event[]): Promise<void> {
    for (const { type, resource } of events) if (type.endsWith('.archived')) await store.remove(resource.id);
    /** Time of the first event, by what has to be read. Events are in the order of their commits, not of their times. */
    const reads = new Map<string, { path: string; builderId: string; since: string; id: string }>();
    for (const { type, builderId, resource, occurredAt } of events) {
      // v1 reads no single meeting.
      const path = type.startsWith('meeting.') ? `/builders/${builderId}/meetings` : resource.path;
      if (path === null) continue;
      const key = `${builderId} ${path}`;
      const { since = occurredAt } = reads.get(key) ?? {};
      reads.set(key, { path, builderId, id: resource.id, since: since < occurredAt ? since : occurredAt });
    }
    for (const { path, builderId, since, id } of reads.values()) {
      if (!path.includes(id)) await read(`${path}?updatedSince=${since}`, builderId);
      else if (!(await read(path, builderId))) await store.remove(id);
    }
  }

  /** Reads a record or all pages of a list, and the lists of each record that is new. Returns whether the path exists. */
  async function read(path: string, builderId?: string): Promise<boolean> {
    const base = `${path}${path.includes('?') ? '&' : '?'}includeBuilderCompany=true`;
    for (let cursor: string | null = ''; cursor !== null; ) {
      let page: Answer;
      try {
        page = await get(`${base}&cursor=${cursor}`, builderId, options);
      } catch (error) {
        if (error instanceof NotFoundError) return false;
        // The copy has what the token reads.
        if (error instanceof ForbiddenError && error.code === 'INSUFFICIENT_SCOPE') return true;
        throw error;
      }
      const isRecord = page.id !== undefined;
      // Only single records have `data`: the answers of an induction.
      const answers = (isRecord ? [page] : page.data) as { id: string; data?: unknown }[];
      const rows = answers.map(({ data: _answers, ...record }) => record);
      const added: string[] = [];
      for (const { id } of rows) if (!(await store.has(id))) added.push(id);
      await store.put(rows.map((record) => ({ id: record.id, path, builderId: builderId ?? record.id, record })));
      for (const id of added) {
        const builder = builderId ?? id;
        if (id === builder && (await copySnapshot(id))) continue;
        for (const list of Object.values(LISTS[id.split('_', 1)[0]!] ?? {}))
          await read(toPath(list, builder, id), builder);
      }
      cursor = isRecord ? null : (page.meta?.nextCursor ?? null);
    }
    return true;
  }
}
