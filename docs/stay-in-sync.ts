/** Keeps a copy of everything that a token reads: first the lists, then the events after a cursor from before. */
const SOURCES = ['GALLERY', 'SITE_DIARY', 'PRE_START', 'CHECKLIST', 'ITP', 'PLATFORM_ACTION', 'DEFECT'];
/** Lists of a builder B, and of each of its records ID. */
const LISTS: Record<string, Record<string, string>> = {
  builder: {
    ...{ project: '/builders/B/projects', meeting: '/builders/B/meetings', defect: '/builders/B/defects' },
    ...{ timesheet: '/timesheets', cost_code: '/timesheets/cost-codes', time_type: '/timesheets/time-types' },
    ...{ photo: `/builders/B/photos?source=${SOURCES.join('&source=')}`, photo_folder: '/builders/B/photo-folders' },
    subcontractor: '/subcontractors',
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
    for (const id of await this.copyRows('builder', '/builders')) await this.copyListsOf('builder', id, id);
    return meta.nextCursor;
  }

  /** Applies what has changed, or waits where nothing has. Store the returned cursor together with the rows. */
  async follow(cursor: string, wait = 20): Promise<{ cursor: string; isCurrent: boolean }> {
    const { data, meta } = await this.get(`/events?after=${cursor}&wait=${wait}`);
    const lists = new Map<string, { name: string; path: string; builderId: string; since: string }>();
    for (const { type, occurredAt: since, builderId, resource } of data) {
      const { id, path, type: name } = resource;
      const list = lists.get(`${builderId} ${path}`) ?? { name, path, builderId, since };
      if (type.endsWith('.archived')) this.remove(name, id);
      else if (path && !path.includes(id))
        lists.set(`${builderId} ${path}`, { ...list, since: since < list.since ? since : list.since });
      else if (path && !(await this.copyRows(name, path, builderId)).length) this.remove(name, id);
      if (type === 'subcontractor.restored') await this.copyListsOf(name, id, builderId);
    }
    for (const { name, path, builderId, since } of lists.values())
      await this.copyRows(name, `${path}?updatedSince=${since}`, builderId);
    return { cursor: meta.nextCursor, isCurrent: data.length === 0 && !meta.hasMore };
  }

  private async copyListsOf(resource: string, id: string, builderId: string): Promise<void> {
    for (const [name, path] of Object.entries(LISTS[resource] ?? {}))
      for (const child of await this.copyRows(name, path.replace('/B/', `/${builderId}/`).replace('ID', id), builderId))
        await this.copyListsOf(name, child, builderId);
  }

  /** Copies the rows of a list, or one record. Returns their ids. */
  private async copyRows(name: string, path: string, builderId?: string): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = `${path.includes('?') ? '&' : '?'}includeBuilderCompany=true&cursor=${cursor}`;
      const page = await this.get(path + query, builderId);
      // `data` of a record: the answers of an induction, which lists do not have.
      for (const { data, ...row } of page?.id ? [page] : (page?.data ?? [])) {
        this.rows.set(`${name} ${row.id}`, { owner: path.match(/^\/subcontractors\/(\w+)\//)?.[1], row });
        ids.push(row.id);
      }
      cursor = page?.meta?.nextCursor ?? null;
    }
    return ids;
  }

  /** Removes a record; what an archived subcontractor handed in cannot be read any more either. */
  private remove(name: string, id: string): void {
    this.rows.delete(`${name} ${id}`);
    for (const [key, { owner }] of this.rows) if (owner === id) this.rows.delete(key);
  }
}
