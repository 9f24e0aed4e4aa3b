type Event = { type: string; occurredAt: string; builderId: string; resource: { id: string; path: string | null } };
const SOURCES = ['GALLERY', 'SITE_DIARY', 'PRE_START', 'CHECKLIST', 'ITP', 'PLATFORM_ACTION', 'DEFECT'];
// biome-ignore format: lists of a builder B, and of each of its records ID, by the prefix of their identifiers
const LISTS: Record<string, string[]> = {
  buil: ['/builders/B/projects', '/builders/B/meetings', '/builders/B/defects', '/builders/B/photo-folders',
    `/builders/B/photos?source=${SOURCES.join('&source=')}`, '/timesheets', '/timesheets/cost-codes',
    '/timesheets/time-types', '/subcontractors'],
  proj: ['/builders/B/projects/ID/inductions'], meet: ['/builders/B/meetings/ID/notes'],
  sub: ['swms', 'prequalifications', 'insurances', 'contacts'].map((name) => `/subcontractors/ID/${name}`),
};

// biome-ignore lint/suspicious/noExplicitAny: the bodies are those of the OpenAPI document; null after 404 and 410.
type Get = (path: string, builderId?: string) => Promise<any>;

/** A copy of everything that a token reads: first the lists, then the events after a cursor from before. */
export function createCopy(get: Get) {
  /** Rows by identifier, with the path that they were read from. */
  const rows = new Map<string, { path: string; row: object }>();

  /** Copies every list into an empty copy. Returns the cursor from which `follow` continues. */
  async function copyLists(): Promise<string> {
    const { meta } = await get('/events');
    rows.clear();
    await read('/builders');
    return meta.nextCursor;
  }

  /** Applies what has changed, or waits where nothing has. Store the returned cursor together with the rows. */
  async function follow(cursor: string, wait = 20): Promise<string> {
    const page = await get(`/events?after=${cursor}&wait=${wait}`);
    if (!page) return copyLists(); // The cursor has expired: more than 30 days offline, or events were lost.
    for (const { type, resource } of page.data) if (type.endsWith('.archived')) remove(resource.id);
    for (const { type, builderId, resource } of page.data)
      if (type.startsWith('meeting.')) resource.path = `/builders/${builderId}/meetings`; // v1 reads no single meeting.
    const byPath = Map.groupBy<string, Event>(page.data, (event) => `${event.builderId} ${event.resource.path}`);
    for (const events of byPath.values()) {
      const { builderId, resource } = events[0]!;
      const since = events.map(({ occurredAt }) => occurredAt).sort()[0];
      const isRecord = resource.path?.includes(resource.id);
      if (isRecord && !(await read(resource.path!, builderId))) remove(resource.id);
      if (resource.path && !isRecord) await read(`${resource.path}?updatedSince=${since}`, builderId);
    }
    return page.meta.nextCursor;
  }

  /** Reads a list or a record, and the lists of what is new. Only records have `data`: the answers of an induction. */
  async function read(path: string, builderId?: string, cursor = ''): Promise<boolean> {
    const first = path.includes('?') ? path : `${path}?`;
    const page = await get(`${first}&includeBuilderCompany=true&cursor=${cursor}`, builderId);
    for (const { data, ...row } of page?.id ? [page] : (page?.data ?? [])) {
      const lists = rows.has(row.id) ? [] : (LISTS[row.id.split('_')[0]] ?? []);
      const builder = builderId ?? row.id;
      rows.set(row.id, { path, row });
      for (const list of lists) await read(list.replace('/B/', `/${builder}/`).replace('ID', row.id), builder);
    }
    return page?.meta?.nextCursor ? read(path, builderId, page.meta.nextCursor) : page !== null;
  }

  /** Removes a record with the records in its lists, which cannot be read any more either. */
  function remove(id: string): void {
    for (const [key, { path }] of rows) if (key === id || path.includes(`/${id}/`)) rows.delete(key);
  }

  return { rows, copyLists, follow };
}
