import { Meeting } from '../../../entities/meeting.entity.ts';
import { MeetingNote } from '../../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../../entities/meeting-template.entity.ts';
import { equal } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';

export const meetings = new Reader(Meeting, {
  largeColumns: ['agenda', 'plainNotes', 'noteBlocks', 'templateResponse'],
  filters: {
    ...equal('builderId', 'projectId', 'status'),
    startDate: { column: 'date', op: 'from' },
    endDate: { column: 'date', op: 'until' },
  },
});

/** Meetings with only their id, to check that one exists. */
export const meetingIdentities = meetings.select({ paths: new Set(['id']), total: false, key: 'id' });

export const meetingNotes = new Reader(MeetingNote, {
  largeColumns: ['summaryMarkdown', 'detailBlocks', 'actionItems'],
  filters: equal('meetingId'),
  condition: 't.archived_at is null',
});

export const meetingTemplates = new Reader(MeetingTemplate);
