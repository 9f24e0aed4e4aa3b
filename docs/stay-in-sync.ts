/** Keeps a copy of everything that a token reads: first the lists, then the events after a cursor from before. */
const SOURCES = ['GALLERY', 'SITE_DIARY', 'PRE_START', 'CHECKLIST', 'ITP', 'PLATFORM_ACTION', 'DEFECT'];
/** Lists of a builder B, and of each of its records ID. */
const LISTS: Record<string, Record<string, string>> = {
  builder: {
    ...{ project: '/builders/B/projects', meeting: '/builders/B/meetings', defect: '/builders/B/defects' },
    ...{ timesheet: '/timesheets', cost_code: '/timesheets/cost-codes', time_type: '/timesheets/time-types' },
    ...{ photo: `/builders/B/photos?source=${SOURCES.join('&source=')}`, photo_folder: '/builders/B/photo-folders' },
    subcontractor: '/subcontractors?includeBuilderCompany=true',
  },
  project: { induction: '/builders/B/projects/ID/inductions' },
  meeting: { meeting_note: '/builders/B/meetings/ID/notes' },
  subcontractor: {
    ...{ swms_document: '/subcontractors/ID/swms', prequalification: '/subcontractors/ID/prequalifications' },
    ...{ insurance: '/subcontractors/ID/insurances', contact: '/subcontractors/ID/contacts' },
  },
};

export class Copy {
  /** Rows by resource and id, such as `timesheet ts_…`; `owner` is the subcontractor that handed the record in. */
  readonly rows = new Map<string, { owner?: string; row: object }>();
  // biome-ignore lint/suspicious/noExplicitAny: the bodies are those of the OpenAPI document.
  constructor(readonly get: (path: string, builderId?: string) => Promise<any>) {}

  /** Copies every list. Returns the cursor from which `follow` continues. */
  async copyLists(): Promise<string> {
    const { meta } = await this.get('/events');
    for (const id of await this.copyList('builder', '/builders')) await this.copyListsOf('builder', id, id);
    return meta.nextCursor;
  }

  /** Applies what has changed, or waits where nothing has. Store the returned cursor together with the rows. */
  async follow(cursor: string, wait = 20): Promise<{ cursor: string; isCurrent: boolean }> {
    const { data, meta } = await this.get(`/events?after=${cursor}&wait=${wait}`);
    for (const { type, occurredAt, builderId, resource } of data) {
      const { id, path, type: name } = resource;
      const since = new Date(Date.parse(occurredAt) - 60_000).toISOString();
      if (type.endsWith('.archived')) this.remove(name, id);
      else if (path?.includes(id)) await this.copyRecord(name, id, path, builderId);
      else if (path) await this.copyList(name, `${path}?updatedSince=${since}`, builderId);
      if (type === 'subcontractor.restored') await this.copyListsOf(name, id, builderId);
    }
    return { cursor: meta.nextCursor, isCurrent: data.length === 0 && !meta.hasMore };
  }

  private async copyListsOf(resource: string, id: string, builderId: string): Promise<void> {
    for (const [name, path] of Object.entries(LISTS[resource] ?? {}))
      for (const child of await this.copyList(name, path.replace('/B/', `/${builderId}/`).replace('ID', id), builderId))
        await this.copyListsOf(name, child, builderId);
  }

  private async copyList(name: string, path: string, builderId?: string): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await this.get(`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`, builderId);
      for (const row of page?.data ?? []) {
        this.rows.set(`${name} ${row.id}`, { owner: path.match(/^\/subcontractors\/(\w+)\//)?.[1], row });
        ids.push(row.id);
      }
      cursor = page?.meta?.nextCursor ?? null;
    }
    return ids;
  }

  private async copyRecord(name: string, id: string, path: string, builderId: string): Promise<void> {
    const found = await this.get(name === 'subcontractor' ? `${path}?includeBuilderCompany=true` : path, builderId);
    if (!found) return this.remove(name, id);
    const { data, ...row } = found; // The answers of an induction, which lists do not have.
    this.rows.set(`${name} ${id}`, { owner: path.match(/^\/subcontractors\/(\w+)\//)?.[1], row });
  }

  /** Removes a record; what an archived subcontractor handed in cannot be read any more either. */
  private remove(name: string, id: string): void {
    this.rows.delete(`${name} ${id}`);
    for (const [key, { owner }] of this.rows) if (owner === id) this.rows.delete(key);
  }
}
