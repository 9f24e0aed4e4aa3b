import type { BlockInput, PageDocumentInput, RichTextRunInput } from './photo-report.input.ts';
import type { StoredContent } from './photo-report.reader.ts';
import type { ReportBlock, ReportListItem, ReportPage, RichTextRun } from './report-tree.type.ts';

interface SentItem {
  id: string;
  depth?: number | null;
  richText: RichTextRunInput[];
  checked?: boolean | null;
}

/** The tree of a report as it is read: what was left out has its default, and every page has its id. */
export function readTree({ builderId, content, pages }: StoredContent): ReportPage {
  const ids = new Map(pages.map(({ id, path }) => [JSON.stringify(path), id]));
  const readPage = (page: PageDocumentInput, path: string[]): ReportPage => ({
    id: ids.get(JSON.stringify(path))!,
    path,
    title: page.title,
    shortDescription: page.shortDescription ?? null,
    contentMetadata: page.contentMetadata ?? null,
    sharingMetadata: page.sharingMetadata ?? null,
    blocks: page.blocks.map((block) => readBlock(block, path)),
  });
  const readBlock = (block: BlockInput, path: string[]): ReportBlock => {
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
      case 'PAGE':
        return { ...common, childPage: readPage(block.childPage as PageDocumentInput, [...path, sourceBlockId]) };
      default:
        return { ...common, items: (properties.items as SentItem[]).map(readItem) };
    }
  };
  return readPage(content.page, []);
}

const readRuns = (runs: RichTextRunInput[]): RichTextRun[] =>
  runs.map(({ text, marks }) => ({ text, marks: marks ?? [] }));

const readItem = ({ id, depth, richText, checked }: SentItem): ReportListItem => ({
  id,
  depth: depth ?? 0,
  richText: readRuns(richText),
  checked: checked ?? null,
});
