import { isStaffActionAllowed, LOWEST_ROLE, STAFF_ACTIONS } from '../../../domain/access/staff-roles.ts';
import type { ConsoleArea } from '../console-area.ts';
import { sessionTypes } from './session.schema.ts';

/** The signed-in staff user. */
export const sessionArea: ConsoleArea = {
  types: sessionTypes,
  queries: {
    me: {
      action: 'access.read',
      resolve: async (_, _args, { staff, region, caller, session }) => ({
        ...staff,
        regionId: region,
        regions: await session.findRegions(),
        scopes: [...caller.scopes],
        actions: STAFF_ACTIONS.filter((action) => isStaffActionAllowed(staff.role, action)),
        otherActions: STAFF_ACTIONS.filter((action) => !isStaffActionAllowed(staff.role, action)).map((action) => ({
          action,
          role: LOWEST_ROLE[action],
        })),
      }),
    },
  },
  mutations: {
    signOut: {
      action: 'access.read',
      async resolve(_, _args, { session }) {
        await session.end();
        return true;
      },
    },
  },
};
