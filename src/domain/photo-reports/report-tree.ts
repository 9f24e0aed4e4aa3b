import type {
  ReportBlock,
  ReportHeading,
  ReportImage,
  ReportList,
  ReportListItem,
  ReportPage,
  ReportText,
  RichTextRun,
} from '../../../entities/report-tree.type.ts';
import { parseJsonInSlices } from '../../limits/parse-json.ts';
import { TimeSlice } from '../../limits/time-slice.ts';
import type { ReportContent, StoredContent } from '../readers/photo-report.reader.ts';
import type { Block, PageDocument, RichTextRun as RichTextRunInput } from './report-inputs.ts';

interface SentItem {
  id: string;
  depth?: number | null;
  richText: RichTextRunInput[];
  checked?: boolean | null;
}

/** Returns the tree of a report: what was left out has its default, and every page has its id. */
export async function buildReportTree(stored: StoredContent): Promise<ReportPage> {
  const { page } = (await parseJsonInSlices(stored.content)) as ReportContent;
  return toTree(stored, page);
}

/** It may be made of megabytes, so the event loop is left to others between its blocks. */
async function toTree({ builderId, pages }: StoredContent, root: PageDocument): Promise<ReportPage> {
  const slice = new TimeSlice();
  const ids = new Map(pages.map(({ id, path }) => [JSON.stringify(path), id]));
  const toPage = async (page: PageDocument, path: string[]): Promise<ReportPage> => {
    const blocks: ReportBlock[] = [];
    for (const block of page.blocks) {
      blocks.push(block.type === 'PAGE' ? await toChild(block, path) : toBlock(block));
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
  const toChild = async ({ type, sourceBlockId, properties, childPage }: Block, path: string[]) => {
    const page = await toPage(childPage as PageDocument, [...path, sourceBlockId]);
    return { type, sourceBlockId, properties, childPage: page } as ReportBlock;
  };
  const toBlock = (block: Block): ReportBlock => {
    const { type, sourceBlockId, properties } = block;
    if (type !== 'IMAGE') return toTextBlock(block);
    return {
      type,
      sourceBlockId,
      properties,
      builderId,
      imageStatus: block.imageStatus!,
      attachmentId: block.attachmentId ?? null,
      captureSequenceId: block.captureSequenceId ?? null,
      imageFailure: block.imageFailure ?? null,
    } as ReportImage;
  };
  return toPage(root, []);
}

function toTextBlock(block: Block): ReportText | ReportHeading | ReportList {
  const { type, sourceBlockId, properties } = block;
  const common = { type, sourceBlockId, properties };
  if (type === 'TEXT') return { ...common, richText: toRuns(block.richText!) } as ReportText;
  if (type === 'HEADING') {
    return { ...common, richText: toRuns(block.richText!), level: properties.level as number } as ReportHeading;
  }
  return { ...common, items: (properties.items as SentItem[]).map(toItem) } as ReportList;
}

const toRuns = (runs: RichTextRunInput[]): RichTextRun[] =>
  runs.map(({ text, marks }) => ({ text, marks: marks ?? [] }));

const toItem = ({ id, depth, richText, checked }: SentItem): ReportListItem => ({
  id,
  depth: depth ?? 0,
  richText: toRuns(richText),
  checked: checked ?? null,
});
