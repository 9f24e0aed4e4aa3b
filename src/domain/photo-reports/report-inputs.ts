import type { BlockType, ImageStatus, TextMark } from '../../../schema/enums.ts';

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
