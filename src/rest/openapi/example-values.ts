const UPLOADS = 'uploads/buil_a0mkq3v8t2n4c7x1p9r5w6yzb';
const richText = (text: string) => [{ text }];

const uploadReference = (name: string) => ({ key: `${UPLOADS}/${name}`, regionId: 'au1', type: 'attachment' });

const galleryPhoto = (sequenceId: number, fileName: string, image: object) => ({
  externalSourceId: `photo-000${sequenceId}`,
  fileName,
  sequenceId,
  ...image,
  capturedAt: '2026-03-02T07:30:00.000Z',
});

/** A page with most types of blocks. */
const PAGE = {
  schemaVersion: 1,
  title: 'Site walk, 2 March',
  shortDescription: 'Level 3, before the pour',
  contentMetadata: { template: 'weekly-walk' },
  blocks: [
    { sourceBlockId: 'block-1', type: 'HEADING', properties: { level: 1 }, richText: richText('Slab') },
    {
      sourceBlockId: 'block-2',
      type: 'TEXT',
      properties: {},
      richText: [{ text: 'Edge protection is ' }, { text: 'missing', marks: ['BOLD'] }, { text: ' in the east.' }],
    },
    {
      sourceBlockId: 'block-3',
      type: 'CHECKLIST',
      properties: { items: [{ id: 'item-1', depth: 0, richText: richText('Close the void'), checked: false }] },
    },
    {
      sourceBlockId: 'block-4',
      type: 'IMAGE',
      properties: {},
      attachmentId: 'att_a0mkq3v8t2n4c7x1p9r5w6yzb',
      captureSequenceId: 1,
      imageStatus: 'SYNCED',
    },
    {
      sourceBlockId: 'block-5',
      type: 'PAGE',
      properties: {},
      childPage: {
        schemaVersion: 1,
        title: 'East facade',
        blocks: [
          {
            sourceBlockId: 'block-1',
            type: 'BULLETED_LIST',
            properties: { items: [{ id: 'item-1', richText: richText('Render cracked at the window reveal') }] },
          },
        ],
      },
    },
  ],
};

/**
 * Examples of request fields whose type has no specific example: by type and field, by operation and argument, or by name. Null omits an
 * optional field. The examples of responses are recorded: see `recorded-responses.ts`.
 */
export const VALUES: Record<string, unknown> = {
  capturedEndedAt: '2026-03-02T07:58:00.000Z',
  capturedStartedAt: '2026-03-02T07:30:00.000Z',
  contentType: 'image/jpeg',
  email: 'mia.tran@brightwire.example',
  endDate: '2026-03-31',
  fileName: 'level-3-east.jpg',
  sourceApp: 'site-notes',
  sourceDeepLink: 'https://site-notes.example/notes/20260302-0730',
  sourceWebLink: 'https://site-notes.example/notes/20260302-0730',
  startDate: '2026-03-01',
  'bulkUpsertPhotos.photos': [
    galleryPhoto(1, 'level-3-east.jpg', { imageAttachment: uploadReference('5d1c6a0f9b7e4d2c8a315d1c6a0f9b7e4d2c') }),
    galleryPhoto(2, 'level-3-west.jpg', { imageAttachment: uploadReference('7f02c9d4e6a1b8530c7d7f02c9d4e6a1b853') }),
    galleryPhoto(3, 'level-4.jpg', { imageUrl: 'https://images.example.com/level-4.jpg' }),
  ],
  'createMeeting.agenda': 'Crane lift plan, edge protection, deliveries for next week',
  'createMeeting.externalSourceId': 'meeting-20260302',
  'createMeeting.title': 'Weekly site meeting',
  'createPhoto.externalSourceId': 'photo-0002',
  'createPhoto.imageUrl': null,
  'createPhotoFolder.name': 'Level 3',
  'updatePhotoFolder.parentId': null,
  'updatePhotoReport.sourceRevision': 8,
  'ActionItemInput.text': 'Send the revised lift plan to the crane crew.',
  'upsertMeetingNote.detailBlocks': [{ type: 'paragraph', text: 'Exclusion zone from 6 am.' }],
  'upsertMeetingNote.externalSourceId': 'note-20260302-0730',
  'upsertMeetingNote.summaryMarkdown': 'Crane lift on **Thursday**, exclusion zone from 6 am.',
  'upsertMeetingNote.title': 'Crane lift',
  'syncPhotoReport.page': PAGE,
  'updatePhotoReport.page': PAGE,
  'recordSignOnEvent.deviceId': 'gate-2',
  'recordSignOnEvent.sourceSignOnEventId': null,
};
