import type {
  BlockType,
  ImageStatus,
  PhotoReportArchiveStatus,
  PhotoReportStatus,
  TextMark,
} from '../../../schema/enums.ts';

export interface RichTextRun {
  text: string;
  marks?: TextMark[] | null;
}

export interface Block {
  sourceBlockId: string;
  type: BlockType;
  properties: Record<string, unknown>;
  richText?: RichTextRun[] | null;
  attachmentId?: string | null;
  captureSequenceId?: number | null;
  imageStatus?: ImageStatus | null;
  imageFailure?: { code: string; message: string } | null;
  /** A `PageDocument`, of a PAGE block. Typed as an object because GraphQL's input types cannot refer to themselves. */
  childPage?: object | null;
}

/** A page of a report with everything that it contains. `page-document.ts` checks what these types cannot express. */
export interface PageDocument {
  schemaVersion: number;
  title: string;
  shortDescription?: string | null;
  contentMetadata?: Record<string, unknown> | null;
  sharingMetadata?: Record<string, unknown> | null;
  blocks: Block[];
}

/** Request to store a revision of a report. `sourceApp` and `sourceExternalId` identify the report. */
export interface SyncPhotoReportInput {
  sourceApp: string;
  sourceExternalId: string;
  sourceRevision: number;
  sourceCreatedAt: string;
  walkthroughDate: string;
  sourceAuthor: { externalId: string; name: string; email?: string | null };
  mappedAdminUserId?: string | null;
  sourceDeepLink?: string | null;
  projectId?: string | null;
  page: PageDocument;
}

export interface SyncPhotoReportResult {
  status: PhotoReportStatus;
  /** Whether the same revision with the same content was committed before. */
  idempotent: boolean;
  photoReportId: string;
  pageId: string;
  sourceRevision: number;
}

export interface ArchivePhotoReportResult {
  status: PhotoReportArchiveStatus;
  /** Whether the report was archived before. */
  idempotent: boolean;
  photoReportId: string;
  pageId: string;
  sourceRevision: number;
  archivedAt: string;
}
