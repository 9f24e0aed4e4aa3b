import { Meeting, type MeetingTemplateResponse } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import type { BuilderContext } from './builder-context.ts';
import { iso, MINUTE } from './local-calendar.ts';
import { ACTIONS, MEETING_TEMPLATES, MEETING_TITLES, SECTION_TEXTS } from './words.ts';

const PAST = 21;
const PLANNED = 2;
/** Days between meetings. */
const DAYS_APART = 25;
/** Source application of synced notes. */
const SOURCE_APP = 'fieldnotes';

/** Adds meetings of the past, one that is running and some that are planned. An integrator syncs some of them, and notes. */
export function addMeetings(context: BuilderContext): void {
  const { random, integratorId } = context;
  const templates = Object.entries(MEETING_TEMPLATES).map(([name, titles]) => {
    const sections = titles.map((title) => ({ id: title.toLowerCase().replaceAll(' ', '-'), title }));
    return context.add(MeetingTemplate, 'meetingTemplate', { name, sections });
  });
  for (let index = -PAST; index <= PLANNED; index++) {
    const day = index * DAYS_APART;
    const isPast = day < 0;
    const createdAt = context.pickTime(Math.min(day, 0) - 10, Math.min(day, 0) - 3);
    const date = day === 0 ? iso(context.now - 20 * MINUTE) : context.pickTime(day);
    const template = random.chance(0.5) ? random.pick(templates) : null;
    const project = random.pick(context.startedProjects.filter((one) => one.createdAt < createdAt));
    const isSynced = integratorId !== null && random.chance(0.4);
    const meeting = context.add(Meeting, 'meeting', {
      createdAt,
      updatedAt: isPast ? context.pickLater(date, 3) : createdAt,
      projectId: random.chance(0.85) ? project.id : null,
      title: random.pick(MEETING_TITLES),
      date,
      status: day === 0 ? 'RUNNING' : isPast ? random.pick(['COMPLETED', 'DISTRIBUTED']) : 'DRAFT',
      agenda: random.chance(0.7) ? '1. Safety\n2. Programme\n3. Trades\n4. Other business' : null,
      plainNotes: isPast && template === null ? random.sample(SECTION_TEXTS, 2).join('\n\n') : null,
      templateId: template?.id ?? null,
      templateResponse: template && createResponse(context, template, isPast),
      ...(isSynced && { integratorId, sourceApp: SOURCE_APP, externalSourceId: `meeting-${random.digits(8)}` }),
    });
    if (isPast && template && integratorId) addNotes(context, meeting);
  }
}

/** Creates the response to a template, which is empty before the meeting. */
function createResponse(
  { random }: BuilderContext,
  { sections }: MeetingTemplate,
  isPast: boolean,
): MeetingTemplateResponse {
  const pickText = () => (isPast && random.chance(0.8) ? random.pick(SECTION_TEXTS) : '');
  return { sections: sections.map((section) => ({ ...section, text: pickText() })), syncedNotes: [] };
}

/** Adds up to two synced notes, which are copied to the meeting's template response. */
function addNotes(context: BuilderContext, { id: meetingId, date, title, templateResponse }: Meeting): void {
  const { random, integratorId } = context;
  for (let count = random.between(0, 2); count > 0; count--) {
    const createdAt = context.pickLater(date, 1);
    const externalSourceId = `note-${random.digits(8)}`;
    const text = random.pick(SECTION_TEXTS);
    const note = context.add(MeetingNote, 'meetingNote', {
      createdAt,
      updatedAt: createdAt,
      meetingId,
      integratorId,
      sourceApp: SOURCE_APP,
      externalSourceId,
      sourceWebLink: `https://fieldnotes.example.com/n/${externalSourceId}`,
      title: `Notes of ${title.toLowerCase()}`,
      summaryMarkdown: `**Summary.** ${text}`,
      detailBlocks: [{ type: 'paragraph', text }],
      actionItems: random.sample(ACTIONS, random.between(0, 3)).map((action) => ({ text: action })),
      capturedStartedAt: date,
      capturedEndedAt: iso(Date.parse(date) + random.between(15, 60) * MINUTE),
    });
    templateResponse!.syncedNotes.push({ noteId: note.id, text: `${note.title}\n${text}` });
  }
}
