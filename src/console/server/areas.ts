import { accessTypes } from './access/access.schema.ts';
import { attendanceTypes } from './attendance/attendance.schema.ts';
import type { ConsoleArea } from './console-area.ts';
import { peopleTypes } from './people/people.schema.ts';
import { sessionTypes } from './session/session.schema.ts';
import { usageTypes } from './usage/usage.schema.ts';
import { webhookTypes } from './webhooks/webhooks.schema.ts';

/** All areas of the console's own schema. */
export const consoleAreas: readonly ConsoleArea[] = [
  { types: sessionTypes },
  { types: accessTypes },
  { types: peopleTypes },
  { types: attendanceTypes },
  { types: usageTypes },
  { types: webhookTypes },
];
