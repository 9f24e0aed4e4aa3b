import { Meeting, type MeetingTemplateResponse } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { HISTORY_DAYS, iso, MINUTE, pickLater, pickWorkingTime, toBaseDay, toDay } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import { findFirstDay, hasStarted } from './projects.ts';
import type { Random } from './random.ts';
import { ACTIONS, AGENDAS, MEETING_TEMPLATES, MEETING_TITLES, SECTION_TEXTS } from './words.ts';

const MEETINGS = 24;
/** Source application of synced notes. */
const SOURCE_APP = 'fieldnotes';

/** Adds meetings and notes. `integratorId` syncs the notes; null for meetings without synced notes. */
export function addMeetings(context: GeneratorContext, projects: Project[], integratorId: string | null): void {
  const random = context.random('meetings');
  const templates = addTemplates(context, random);
  for (let index = 0; index < MEETINGS; index++) {
    // From the past to three weeks ahead; the third from the end is running.
    const day = index === MEETINGS - 3 ? 0 : Math.round((index - MEETINGS + 3) * (index < MEETINGS - 3 ? 25 : 9));
    const template = random.chance(0.5) ? random.pick(templates) : null;
    const running = projects.filter((project) => hasStarted(project) && findFirstDay(project) < day - 10);
    const project = random.chance(0.85) ? random.pick(running) : null;
    addMeeting(context, random, { day, template, project, integratorId });
  }
}

function addTemplates({ rows, builderId }: GeneratorContext, random: Random): MeetingTemplate[] {
  const at = toBaseDay(-HISTORY_DAYS);
  return MEETING_TEMPLATES.map(({ name, sections }) =>
    rows.add(MeetingTemplate, {
      id: random.id('meetingTemplate', at),
      builderId,
      name,
      sections: sections.map((title) => ({ id: title.toLowerCase().replaceAll(' ', '-'), title })),
    }),
  );
}

interface Options {
  day: number;
  template: MeetingTemplate | null;
  project: Project | null;
  integratorId: string | null;
}

function addMeeting(
  context: GeneratorContext,
  random: Random,
  { day, template, project, integratorId }: Options,
): void {
  const createdAt = pickWorkingTime(random, Math.min(day, 0) - 10, Math.min(day, 0) - 3);
  const date = day === 0 ? iso(Date.parse(toBaseDay(0)) - 20 * MINUTE) : pickWorkingTime(random, day, day);
  const isPast = day < 0;
  const status = day === 0 ? 'RUNNING' : isPast ? random.pick(['COMPLETED', 'DISTRIBUTED'] as const) : 'DRAFT';
  const isSynced = integratorId !== null && random.chance(0.4);
  const meeting = context.rows.add(Meeting, {
    id: random.id('meeting', createdAt),
    createdAt,
    updatedAt: isPast ? pickLater(random, date, 3) : createdAt,
    builderId: context.builderId,
    projectId: project?.id ?? null,
    title: random.pick(MEETING_TITLES),
    date,
    status,
    agenda: random.chance(0.7) ? random.pick(AGENDAS) : null,
    plainNotes: isPast && template === null ? random.sample(SECTION_TEXTS, 2).join('\n\n') : null,
    templateId: template?.id ?? null,
    templateResponse: template && createResponse(random, template, isPast),
    integratorId: isSynced ? integratorId : null,
    sourceApp: isSynced ? SOURCE_APP : null,
    externalSourceId: isSynced ? `meeting-${random.digits(8)}` : null,
  });
  if (isPast && meeting.templateResponse && integratorId) addNotes(context, random, meeting, integratorId);
}

/** Creates the template response, which is empty before the meeting. */
function createResponse(random: Random, { sections }: MeetingTemplate, isPast: boolean): MeetingTemplateResponse {
  const pickText = () => (isPast && random.chance(0.8) ? random.pick(SECTION_TEXTS) : '');
  return { sections: sections.map((section) => ({ ...section, text: pickText() })), syncedNotes: [] };
}

/** Adds up to two synced notes, which are copied to the meeting's template response. */
function addNotes(context: GeneratorContext, random: Random, meeting: Meeting, integratorId: string): void {
  const begun = Date.parse(meeting.date);
  for (let count = random.between(0, 2); count > 0; count--) {
    const createdAt = pickLater(random, meeting.date, 1);
    const id = random.id('meetingNote', createdAt);
    const external = `note-${random.digits(8)}`;
    const text = random.pick(SECTION_TEXTS);
    const title = `Notes of ${meeting.title.toLowerCase()}, day ${-toDay(meeting.date)}`;
    context.rows.add(MeetingNote, {
      id,
      createdAt,
      updatedAt: createdAt,
      builderId: context.builderId,
      meetingId: meeting.id,
      integratorId,
      sourceApp: SOURCE_APP,
      externalSourceId: external,
      sourceWebLink: `https://fieldnotes.example.com/n/${external}`,
      title,
      summaryMarkdown: `**Summary.** ${text}`,
      detailBlocks: [{ type: 'paragraph', text }],
      actionItems: random.sample(ACTIONS, random.between(0, 3)).map((action) => ({ text: action })),
      capturedStartedAt: meeting.date,
      capturedEndedAt: iso(begun + random.between(15, 60) * MINUTE),
    });
    meeting.templateResponse!.syncedNotes.push({ noteId: id, text: `${title}\n${text}` });
  }
}
