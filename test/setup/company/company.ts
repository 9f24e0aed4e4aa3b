import { findIntegratorId, generateBuilder } from '../../../src/demo/accounts.ts';
import type { Rows } from '../../../src/demo/rows.ts';
import type { RegionId } from '../../../src/shared/regions.ts';
import { addAttendance } from './attendance.ts';
import { CompanyContext } from './company-context.ts';
import { addProjects, addTimesheets, addUsers } from './projects.ts';
import { addDefects, addMeetings, addPhotoReports } from './records.ts';
import { addSubcontractors, GATE_WORKERS } from './subcontractors.ts';

/** Project with workers of each state of access, and without attendance. */
interface GateFixture {
  builderId: string;
  projectId: string;
  workers: Record<keyof typeof GATE_WORKERS, string[]>;
}

const createContext = (region: RegionId, index: number) =>
  new CompanyContext(region, index, generateBuilder(region, index).id, findIntegratorId(region, index));

/**
 * Creates some rows of every kind that a builder has, except photos, for tests that read or call everything. What a test asserts about
 * single records, it adds itself: see `test/support/rows.ts`.
 */
export function createCompanyRows(region: RegionId, index: number): Rows {
  const context = createContext(region, index);
  addProjects(context);
  addUsers(context);
  addTimesheets(context);
  addSubcontractors(context);
  addDefects(context);
  addMeetings(context);
  addPhotoReports(context);
  addAttendance(context);
  return context.rows;
}

/** Returns the project of the first builder in `au1` whose gate tests use. */
export function createGateFixture(): GateFixture {
  const context = createContext('au1', 0);
  const { active, revoked, none } = GATE_WORKERS;
  // They are the first workers of the company.
  const ids = Array.from({ length: active + revoked + none }, () => context.id('worker'));
  return {
    builderId: context.builderId,
    projectId: context.idAt('project', 1),
    workers: { active: ids.slice(0, active), revoked: ids.slice(active, active + revoked), none: ids.slice(-none) },
  };
}
