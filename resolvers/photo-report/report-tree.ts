import type {
  Block,
  PageDocument,
  RichTextRun as RichTextRunInput,
} from '../../src/domain/photo-reports/report-inputs.ts';
import type { ReportContent, StoredContent } from '../../src/domain/readers/photo-report.reader.ts';
import { parseJsonInSlices } from '../../src/shared/parse-json.ts';
import { TimeSlice } from '../../src/shared/time-slice.ts';
import type { ReportBlock, ReportListItem, ReportPage, RichTextRun } from './report-tree.type.ts';

interface SentItem {
  id: string;
  depth?: number | null;
  richText: RichTextRunInput[];
  checked?: boolean | null;
}

/**
 * The tree of a report as it is read: what was left out has its default, and every page has its id. It may be made of megabytes,
 * so the event loop is left to others between its blocks.
 */
export async function readTree({ builderId, content, pages }: StoredContent): Promise<ReportPage> {
  const { page: root } = (await parseJsonInSlices(content)) as ReportContent;
  const slice = new TimeSlice();
  const ids = new Map(pages.map(({ id, path }) => [JSON.stringify(path), id]));
  const readPage = async (page: PageDocument, path: string[]): Promise<ReportPage> => {
    const blocks: ReportBlock[] = [];
    for (const block of page.blocks) {
      blocks.push(block.type === 'PAGE' ? await readChild(block, path) : readBlock(block));
      if (slice.isOver) await slice.next();
    }
    return {
      id: ids.get(JSON.stringify(path))!,
      path,
      title: page.title,
      shortDescription: page.shortDescription ?? null,
      contentMetadata: page.contentMetadata ?? null,
      sharingMetadata: page.sharingMetadata ?? null,
      blocks,
    };
  };
  const readChild = async ({ type, sourceBlockId, properties, childPage }: Block, path: string[]) => {
    const page = await readPage(childPage as PageDocument, [...path, sourceBlockId]);
    return { type, sourceBlockId, properties, childPage: page } as ReportBlock;
  };
  const readBlock = (block: Block): ReportBlock => {
    const { type, sourceBlockId, properties } = block;
    const common = { type, sourceBlockId, properties };
    switch (type) {
      case 'TEXT':
        return { ...common, richText: readRuns(block.richText!) };
      case 'HEADING':
        return { ...common, richText: readRuns(block.richText!), level: properties.level as number };
      case 'IMAGE':
        return {
          ...common,
          builderId,
          imageStatus: block.imageStatus!,
          attachmentId: block.attachmentId ?? null,
          captureSequenceId: block.captureSequenceId ?? null,
          imageFailure: block.imageFailure ?? null,
        };
      default:
        return { ...common, items: (properties.items as SentItem[]).map(readItem) };
    }
  };
  return readPage(root, []);
}

const readRuns = (runs: RichTextRunInput[]): RichTextRun[] =>
  runs.map(({ text, marks }) => ({ text, marks: marks ?? [] }));

const readItem = ({ id, depth, richText, checked }: SentItem): ReportListItem => ({
  id,
  depth: depth ?? 0,
  richText: readRuns(richText),
  checked: checked ?? null,
});
