/** Fields of a sync that a decision depends on. */
export interface SyncAttempt {
  who: string;
  report: string;
  revision: number;
  /** Name of the content; equal names mean equal contents. */
  content: string;
  /** Photos of the content. */
  photos: string[];
  /** Whether an image of the content failed. */
  failed: boolean;
  updateOnly: boolean;
}

export interface ArchiveAttempt {
  who: string;
  report: string;
  revision: number | null;
}

export type ExpectedResponse =
  | { http: 200; status: 'synced' | 'partial' | 'archived'; idempotent: boolean; sourceRevision: number }
  | { http: 404 | 409; code: string };

interface StoredReport {
  owner: string;
  revision: number;
  content: string;
  failed: boolean;
  archived: boolean;
}

const createError = (code: string): ExpectedResponse => ({ http: code === 'NOT_FOUND' ? 404 : 409, code });

/** In-memory model of syncs and archives, without concurrency. */
export class ReportModel {
  readonly reports = new Map<string, StoredReport>();
  readonly archivedPhotos = new Set<string>();

  sync({ who, report, revision, content, photos, failed, updateOnly }: SyncAttempt): ExpectedResponse {
    const stored = this.reports.get(report);
    if (!stored && updateOnly) return createError('NOT_FOUND');
    if (stored && stored.owner !== who) return createError('SOURCE_OWNERSHIP_REQUIRED');
    if (stored?.archived && updateOnly) return createError('NOT_FOUND');
    const answer = (idempotent: boolean): ExpectedResponse => {
      return { http: 200, status: failed ? 'partial' : 'synced', idempotent, sourceRevision: revision };
    };
    if (stored?.revision === revision) {
      return stored.content === content ? answer(true) : createError('REVISION_CONFLICT');
    }
    if (stored && stored.revision > revision) return createError('STALE_REVISION');
    if (photos.some((photo) => this.archivedPhotos.has(photo))) return createError('ATTACHMENT_CONFLICT');
    this.reports.set(report, { owner: who, revision, content, failed, archived: false });
    return answer(false);
  }

  archive({ who, report, revision }: ArchiveAttempt): ExpectedResponse {
    const stored = this.reports.get(report);
    if (!stored) return createError('NOT_FOUND');
    if (stored.owner !== who) return createError('SOURCE_OWNERSHIP_REQUIRED');
    if (revision !== null && revision < stored.revision) return createError('STALE_REVISION');
    const idempotent = stored.archived;
    stored.archived = true;
    return { http: 200, status: 'archived', idempotent, sourceRevision: stored.revision };
  }
}
