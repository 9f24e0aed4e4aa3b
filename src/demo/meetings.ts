import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import type { BuilderContext } from './builder-context.ts';
import { iso, MINUTE } from './local-calendar.ts';
import { MEETING_TEMPLATES, MEETING_TITLES, SECTION_TEXTS } from './words.ts';

const PAST = 21;
const PLANNED = 2;
/** Days between meetings. */
const DAYS_APART = 25;

/** Adds meetings of the past, one that is running and some that are planned. An integrator syncs some of them. */
export function addMeetings(context: BuilderContext): void {
  const { random, integratorId } = context;
  const templates = Object.entries(MEETING_TEMPLATES).map(([name, titles]) => {
    const sections = titles.map((title, index) => ({ id: `section-${index + 1}`, title }));
    return context.add(MeetingTemplate, 'meetingTemplate', { name, sections });
  });
  for (let index = -PAST; index <= PLANNED; index++) {
    const day = index * DAYS_APART;
    const isPast = day < 0;
    const createdAt = context.pickLater(context.ago(Math.max(-day, 0) + 10), 7);
    const date = day === 0 ? iso(context.now - 20 * MINUTE) : context.pickTime(day);
    const template = random.chance(0.5) ? random.pick(templates) : null;
    // Empty before the meeting.
    const sections = template?.sections.map((one) => ({ ...one, text: isPast ? random.pick(SECTION_TEXTS) : '' }));
    const isSynced = integratorId !== null && random.chance(0.4);
    context.add(Meeting, 'meeting', {
      createdAt,
      updatedAt: isPast ? context.pickLater(date, 3) : createdAt,
      projectId: random.chance(0.85) ? random.pick(context.listStartedProjects(createdAt)).id : null,
      title: random.pick(MEETING_TITLES),
      date,
      status: day === 0 ? 'RUNNING' : isPast ? random.pick(['COMPLETED', 'DISTRIBUTED']) : 'DRAFT',
      agenda: random.chance(0.7) ? '1. Safety\n2. Programme\n3. Trades\n4. Other business' : null,
      plainNotes: isPast && !template ? random.sample(SECTION_TEXTS, 2).join('\n\n') : null,
      templateId: template?.id ?? null,
      templateResponse: sections ? { sections, syncedNotes: [] } : null,
      ...(isSynced && { integratorId, sourceApp: 'fieldnotes', externalSourceId: `meeting-${random.digits(8)}` }),
    });
  }
}
