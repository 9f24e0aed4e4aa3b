import { PhotoReport } from '../../../entities/photo-report.entity.ts';
import { equal, searchOf } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';
import { parseJsonColumn } from '../../database/read/row-mapper.ts';
import type { PageDocument } from '../photo-reports/report-inputs.ts';

/** Parsed content of a report. */
export type ReportContent = { page: PageDocument } & Record<string, unknown>;

/** Content of a report with the ids of its pages, from which the tree is built. */
export interface StoredContent {
  id: string;
  builderId: string;
  sourceRevision: number;
  /** JSON of the request without its revision. */
  content: string;
  pages: { id: string; path: string[] }[];
}

/** Photo reports without their content, which can be megabytes. */
export const photoReports = new Reader(PhotoReport, {
  filters: {
    ...equal('builderId', 'projectId', 'sourceApp', 'sourceExternalId'),
    search: searchOf('t.title'),
    archived: { sql: '(t.archived_at is not null) = :archived::boolean' },
  },
  exclude: ['content', 'fingerprint', 'integratorId'],
});

export const reportContents = new Reader(PhotoReport, {
  name: 'PhotoReportContent',
  largeColumns: ['content'],
  // `parseJsonInSlices` parses it, so that megabytes do not block the event loop.
  textColumns: ['content'],
  columns: {
    pages: {
      sql: `(select json_agg(json_build_object('id', p.id, 'path', p.path)) from photo_report_page p where p.report_id = t.id)`,
      convert: parseJsonColumn,
    },
  },
});
