/** Returns the body of a photo-report sync with 50 blocks, one of them a child page. */
export function createPhotoReportBody(sourceExternalId: string, photoIds: readonly string[]): object {
  const blocks = Array.from({ length: 39 }, (_, n) => createBlock(n, photoIds));
  const childPage = {
    schemaVersion: 1,
    title: 'Level 3',
    blocks: Array.from({ length: 10 }, (_, n) => createBlock(n, photoIds)),
  };
  return {
    sourceApp: 'bench',
    sourceExternalId,
    sourceRevision: 1,
    sourceCreatedAt: '2026-03-02T07:30:00.000Z',
    walkthroughDate: '2026-03-02T06:45:00.000Z',
    sourceAuthor: { externalId: 'author-7', name: 'Zoë O’Neill', email: 'zoe@example.com' },
    page: {
      schemaVersion: 1,
      title: 'Walk before the pour',
      shortDescription: 'Slab, edge protection, reinforcement.',
      blocks: [...blocks, { sourceBlockId: 'level-3', type: 'PAGE', properties: {}, childPage }],
    },
  };
}

const TEXT = 'Edge protection is missing at the east façade; to be mended before the pour on Thursday.';

function createBlock(n: number, photoIds: readonly string[]): object {
  const sourceBlockId = `block-${n}`;
  switch (n % 5) {
    case 0:
      return { sourceBlockId, type: 'HEADING', properties: { level: 2 }, richText: [{ text: `Grid line ${n}` }] };
    case 1:
      return {
        ...{ sourceBlockId, type: 'IMAGE', properties: {} },
        ...{ attachmentId: photoIds[n % photoIds.length], imageStatus: 'SYNCED', captureSequenceId: n },
      };
    case 2: {
      const items = ['Scaffold tag', 'Handrail', 'Toe board'].map((text, index) => {
        return { id: `item-${index}`, checked: index % 2 === 0, richText: [{ text }] };
      });
      return { sourceBlockId, type: 'CHECKLIST', properties: { items } };
    }
    default:
      return {
        ...{ sourceBlockId, type: 'TEXT', properties: {} },
        richText: [{ text: TEXT }, { text: ' By the formworker.', marks: ['BOLD'] }],
      };
  }
}
