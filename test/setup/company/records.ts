import { Defect } from '../../../entities/defect.entity.ts';
import { Location } from '../../../entities/location.entity.ts';
import { Meeting, type MeetingTemplateResponse } from '../../../entities/meeting.entity.ts';
import { MeetingNote } from '../../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../../entities/meeting-template.entity.ts';
import { PhotoReport } from '../../../entities/photo-report.entity.ts';
import { PhotoReportPage } from '../../../entities/photo-report-page.entity.ts';
import { Subcontractor } from '../../../entities/subcontractor.entity.ts';
import { canonicalJson, createFingerprint } from '../../../src/domain/canonical-json.ts';
import { type CompanyContext, created, cycle, instant } from './company-context.ts';
import { hasStarted } from './projects.ts';

/** More than a page, as are the meetings. */
const DEFECTS = 40;
const MEETINGS = 28;
const REPORTS = 3;

const DEFECT_STATUSES = ['OPEN', 'IN_PROGRESS', 'READY_FOR_REVIEW', 'CLOSED'] as const;
const PRIORITIES = ['LOW', 'MEDIUM', 'HIGH'] as const;

/** Adds defects of the started projects, numbered within each. */
export function addDefects(context: CompanyContext): void {
  const { rows, builderId, users } = context;
  const started = context.projects.filter(hasStarted);
  const [user] = users;
  const [, company] = rows.of(Subcontractor);
  const assignees: Defect['assignees'] = [
    { type: 'USER', id: user!.id, name: user!.name },
    { type: 'COMPANY', id: company!.id, name: company!.name },
    { type: 'TAG', id: context.id('tag'), name: 'Handover' },
  ];
  for (let index = 0; index < DEFECTS; index++) {
    const projectId = cycle(started, index).id;
    const locations = rows.of(Location).filter((location) => location.projectId === projectId);
    const status = cycle(DEFECT_STATUSES, Math.floor(index / started.length));
    rows.add(Defect, {
      ...{ id: context.id('defect'), ...created(index - 90, index - 80), builderId, projectId, status },
      ...{ identifier: 1 + Math.floor(index / started.length), title: `Cracked tile ${index}` },
      description: index % 3 === 0 ? null : 'The tile is cracked.',
      priority: cycle(PRIORITIES, index),
      dueDate: index % 5 === 0 ? null : instant(index - 40),
      locationId: index % 7 === 0 ? null : cycle(locations, index).id,
      ...{ assignees: assignees.slice(0, index % 4), photoIds: [] },
      closedAt: status === 'CLOSED' ? instant(index - 80, 7) : null,
    });
  }
}

/** Adds meetings of the past, one that is running and one of the future, half of them with a template, and synced notes. */
export function addMeetings(context: CompanyContext): void {
  const { rows, builderId, integratorId } = context;
  const sections = ['Safety', 'Programme'].map((title) => ({ id: title.toLowerCase(), title }));
  const template = rows.add(MeetingTemplate, {
    ...{ id: context.id('meetingTemplate'), builderId, name: 'Site coordination', sections },
  });
  const started = context.projects.filter(hasStarted);
  for (let index = 0; index < MEETINGS; index++) {
    const day = (index - MEETINGS + 2) * 7;
    const isSynced = integratorId !== null && index % 3 === 0;
    const templateResponse: MeetingTemplateResponse | null =
      index % 2 === 0 ? { sections: sections.map((section) => ({ ...section, text: '' })), syncedNotes: [] } : null;
    const meeting = rows.add(Meeting, {
      ...{ id: context.id('meeting'), ...created(Math.min(day, 0) - 5, Math.min(day, 0) - 1), builderId },
      projectId: index % 6 === 5 ? null : cycle(started, index).id,
      ...{ title: `Fixture meeting ${index + 1}`, date: instant(day, 0, -20) },
      status: day > 0 ? 'DRAFT' : day === 0 ? 'RUNNING' : cycle(['COMPLETED', 'DISTRIBUTED'] as const, index),
      agenda: index % 4 === 0 ? null : 'Programme and safety',
      plainNotes: day < 0 && templateResponse === null ? 'The slab is poured on Friday.' : null,
      ...{ templateId: templateResponse && template.id, templateResponse },
      integratorId: isSynced ? integratorId : null,
      sourceApp: isSynced ? 'fieldnotes' : null,
      externalSourceId: isSynced ? `meeting-${index}` : null,
    });
    if (day < 0 && templateResponse && integratorId) addNote(context, meeting, integratorId);
  }
}

/** Adds a synced note, which is copied to the meeting's template response. */
function addNote(context: CompanyContext, meeting: Meeting, integratorId: string): void {
  const id = context.id('meetingNote');
  const text = 'The crane arrives on Monday.';
  context.rows.add(MeetingNote, {
    ...{ id, createdAt: meeting.date, updatedAt: meeting.date, builderId: context.builderId },
    ...{ meetingId: meeting.id, integratorId, sourceApp: 'fieldnotes', externalSourceId: `note-${id.slice(-4)}` },
    ...{ sourceDeepLink: null, sourceWebLink: 'https://fieldnotes.example.com/n/1', title: 'Notes' },
    ...{ summaryMarkdown: text, detailBlocks: [{ type: 'paragraph', text }], actionItems: [{ text: 'Call the crew' }] },
    ...{ capturedStartedAt: meeting.date, capturedEndedAt: null, archivedAt: null },
  });
  meeting.templateResponse!.syncedNotes.push({ noteId: id, text: `Notes\n${text}` });
}

/** Adds synced photo reports, each with a page below the first; none without an integrator. */
export function addPhotoReports(context: CompanyContext): void {
  const { rows, builderId, integratorId, projects } = context;
  if (integratorId === null) return;
  for (let index = 0; index < REPORTS; index++) {
    const projectId = projects[index]!.id;
    const at = instant(index - 30, 7);
    const childPage = { schemaVersion: 1, title: 'East facade', blocks: [] };
    const blocks = [{ sourceBlockId: 'area', type: 'PAGE', properties: {}, childPage }];
    const content = {
      ...{ sourceApp: 'sitewalk', sourceExternalId: `walk-${index}`, sourceCreatedAt: at, walkthroughDate: at },
      ...{ sourceAuthor: { externalId: 'author-1', name: 'Mia Tran' }, projectId },
      page: { schemaVersion: 1, title: `Site walk ${index + 1}`, blocks },
    };
    const { page, ...columns } = content;
    const { id: reportId } = rows.add(PhotoReport, {
      ...{ id: context.id('photoReport'), ...created(index - 30), builderId, integratorId, ...columns },
      ...{
        sourceRevision: 1,
        status: 'synced',
        title: page.title,
        sourceDeepLink: null,
        mappedAdminUserId: null,
        archivedAt: null,
      },
      ...{ fingerprint: createFingerprint(canonicalJson(content)), content },
    });
    let parentId: string | null = null;
    for (const path of [[], ['area']]) {
      const pathDigest = createFingerprint(JSON.stringify(path));
      const id = context.id('page');
      rows.add(PhotoReportPage, { id, reportId, parentId, path, pathDigest });
      parentId = id;
    }
  }
}
