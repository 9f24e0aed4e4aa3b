import { Meeting } from '../../../entities/meeting.entity.ts';
import { MeetingNote } from '../../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../../entities/meeting-template.entity.ts';
import { Reader } from '../../database/read/reader.ts';

export const meetings = new Reader(Meeting, {
  largeColumns: ['agenda', 'plainNotes', 'noteBlocks', 'templateResponse'],
  filters: {
    builderId: 't.builder_id = :builderId',
    projectId: 't.project_id = :projectId',
    status: 't.status = any(:status::text[])',
    startDate: 't.date >= :startDate::timestamptz',
    endDate: 't.date <= :endDate::timestamptz',
  },
  counterKind: 'status',
});

/** Meetings with only their id, to check that one exists. */
export const meetingIdentities = meetings.select({ paths: new Set(['id']), total: false, key: 'id' });

export const meetingNotes = new Reader(MeetingNote, {
  largeColumns: ['summaryMarkdown', 'detailBlocks', 'actionItems'],
  filters: { meetingId: 't.meeting_id = :meetingId' },
  condition: 't.archived_at is null',
});

export const meetingTemplates = new Reader(MeetingTemplate);
