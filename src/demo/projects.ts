import { CostCode } from '../../entities/cost-code.entity.ts';
import { Location } from '../../entities/location.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { FOUNDED, FOUNDING, toEmail } from './accounts.ts';
import { type BuilderContext, HISTORY_DAYS } from './builder-context.ts';
import { COST_CODES, FIRST_NAMES, LAST_NAMES, LOCATIONS, PROJECTS, ROLES, TIME_TYPES } from './words.ts';

/** Numbers of projects, oldest first. */
const STATUSES = { IN_PROGRESS: 6, COMPLETE: 3, ARCHIVED: 1, UPCOMING: 2 };
const DAYS_APART = 50;
const PROFILES = 40;
const ADMINS = 4;

/** Adds projects with their locations. The first one is in progress through the whole history. */
export function addProjects(context: BuilderContext, firstId: string): void {
  const { random, locale } = context;
  const statuses = Object.entries(STATUSES).flatMap(([status, count]) => Array<string>(count).fill(status));
  for (const [index, status] of statuses.entries()) {
    const begun = context.ago(HISTORY_DAYS - index * DAYS_APART);
    const suburb = locale.places[index % locale.places.length]!.split(',')[0];
    const { id: projectId } = context.add(Project, 'project', {
      ...(index === 0 ? { ...FOUNDING, id: firstId } : context.pickDates(begun, DAYS_APART)),
      status: status as Project['status'],
      name: `${suburb} ${PROJECTS[index]}`,
      integrations: [{ type: 'procore', sourceId: random.digits(7), companyId: random.digits(5) }],
    });
    for (const name of random.sample(LOCATIONS, 5)) context.add(Location, 'location', { projectId, name });
  }
}

/** Adds cost codes and time types of timesheets, and the profiles that timesheets belong to. */
export function addTimesheetLists(context: BuilderContext): void {
  for (const text of COST_CODES)
    context.add(CostCode, 'costCode', { code: text.slice(0, 6), description: text.slice(7) });
  for (const name of TIME_TYPES) context.add(TimeType, 'timeType', { name });
  for (let index = 0; index < PROFILES; index++)
    context.add(Profile, 'profile', { fullName: context.pickName(), type: index < ADMINS ? 'admin' : 'worker' });
}

/** Adds the builder's staff, who cannot sign in. Users who can are added with the clients. */
export function addStaff({ rows, random, builder }: BuilderContext): void {
  // E-mail addresses are unique in a region, so no two have the same first name.
  for (const [index, firstName] of random.sample(FIRST_NAMES, ROLES.length).entries()) {
    const name = `${firstName} ${random.pick(LAST_NAMES)}`;
    const id = random.id('user', FOUNDED);
    rows.add(User, { ...FOUNDING, id, name, email: toEmail(name, builder.name) });
    rows.add(Membership, { ...FOUNDING, userId: id, builderId: builder.id, role: ROLES[index] });
  }
}
