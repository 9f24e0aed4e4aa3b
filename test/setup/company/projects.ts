import { CostCode } from '../../../entities/cost-code.entity.ts';
import { Location } from '../../../entities/location.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { Profile } from '../../../entities/profile.entity.ts';
import { Project } from '../../../entities/project.entity.ts';
import { TimeType } from '../../../entities/time-type.entity.ts';
import { Timesheet } from '../../../entities/timesheet.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { type CompanyContext, created, cycle, instant } from './company-context.ts';

const STATUSES = ['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETE', 'IN_PROGRESS', 'ARCHIVED', 'UPCOMING'] as const;
const ROLES = ['ADMIN', 'SITE_MANAGER'] as const;
const COST_CODES = ['100', '200', '300', '400'];
const TIME_TYPES = ['Ordinary', 'Overtime', 'Travel'];
const PROFILES = 6;
/** More than three pages. */
const TIMESHEETS = 100;
const TIMESHEET_STATUSES = ['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'] as const;

export const hasStarted = ({ status }: Project) => status !== 'UPCOMING';

/** Adds projects, the oldest first, each with three locations. */
export function addProjects(context: CompanyContext): void {
  const { rows, builderId, projects } = context;
  for (const [index, status] of STATUSES.entries()) {
    const integrations = index % 2 === 0 ? [{ type: 'procore', sourceId: `p${index}`, companyId: 'c1' }] : [];
    const project = rows.add(Project, {
      ...{ id: context.id('project'), ...created(index * 90 - 600), builderId, status, integrations },
      name: `Fixture site ${index + 1}`,
    });
    projects.push(project);
    for (const name of ['Level 1', 'Level 2', 'Facade']) {
      rows.add(Location, { id: context.id('location'), builderId, projectId: project.id, name });
    }
  }
}

/** Adds users of the builder's account, who cannot sign in. */
export function addUsers(context: CompanyContext): void {
  const { rows, builderId, region, index, users } = context;
  for (const role of ROLES) {
    const id = context.id('user');
    const account = { passwordHash: null, pictureKey: null, staffRole: null, disabledAt: null };
    const email = `${role.toLowerCase().replace('_', '.')}@${region}-${index}.example`;
    users.push(rows.add(User, { id, ...created(-600), name: `Fixture ${role}`, email, ...account }));
    rows.add(Membership, { ...created(-600), userId: id, builderId, role });
  }
}

/** Adds timesheets of the last year, and what they refer to. */
export function addTimesheets(context: CompanyContext): void {
  const { rows, builderId, projects } = context;
  const costCodes = COST_CODES.map((code) =>
    rows.add(CostCode, { id: context.id('costCode'), builderId, code, description: `Trade ${code}` }),
  );
  const timeTypes = TIME_TYPES.map((name) => rows.add(TimeType, { id: context.id('timeType'), builderId, name }));
  const profiles = Array.from({ length: PROFILES }, (_, index) => {
    const type = index === 0 ? 'admin' : 'worker';
    return rows.add(Profile, { id: context.id('profile'), builderId, fullName: `Person ${index + 1}`, type });
  });
  const started = projects.filter(hasStarted);
  for (let index = 0; index < TIMESHEETS; index++) {
    const day = Math.floor(index * 3.5) - 351;
    rows.add(Timesheet, {
      ...{ id: context.id('timesheet'), ...created(day, index % 3 === 0 ? day + 1 : day), builderId },
      projectId: cycle(started, index).id,
      profileId: cycle(profiles, index).id,
      costCodeId: index % 10 === 9 ? null : cycle(costCodes, index).id,
      timeTypeId: cycle(timeTypes, index).id,
      status: cycle(TIMESHEET_STATUSES, Math.floor(index / 3)),
      date: instant(day),
      hours: cycle([7.6, 8, 8.5, 4], index),
      notes: index % 4 === 0 ? 'Formwork' : null,
      timesheetGroupId: index % 10 === 3 ? null : context.idAt('timesheetGroup', 1 + Math.floor(index / 5)),
    });
  }
}
