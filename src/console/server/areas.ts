import { accessArea } from './access/access.area.ts';
import { attendanceArea } from './attendance/attendance.area.ts';
import type { ConsoleArea } from './console-area.ts';
import { figuresArea } from './figures/figures.area.ts';
import { peopleArea } from './people/people.area.ts';
import { sessionArea } from './session/session.area.ts';
import { usageArea } from './usage/usage.area.ts';
import { webhookArea } from './webhooks/webhooks.area.ts';

/** All areas of the console's own schema. */
export const consoleAreas: readonly ConsoleArea[] = [
  sessionArea,
  accessArea,
  peopleArea,
  attendanceArea,
  usageArea,
  webhookArea,
  figuresArea,
];
