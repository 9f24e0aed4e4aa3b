import { fail, STANDARDS, scalar } from '../../schema/scalar.ts';
import { text, toInstant } from '../../schema/scalars.ts';

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|\+00:00)$/;

/** When a gate saw something: in UTC, to the millisecond or coarser (ATT-2). */
export const GateInstant = scalar<string>({
  name: 'GateInstant',
  description: 'ISO 8601 date-time in UTC, ending in `Z` or `+00:00`, with at most three decimals of a second.',
  jsonSchema: { type: 'string', pattern: TIME.source, examples: ['2026-03-02T07:30:00.000Z'] },
  specifiedBy: STANDARDS.dateTime,
  parse: (value) =>
    (typeof value === 'string' && TIME.test(value) && toInstant(value)) ||
    fail('must be an ISO 8601 date-time in UTC with at most three decimals'),
});

/** Length of every text of a sign-on event (ATT-1). */
const LONGEST = 200;

/** What the gate or its system calls something, kept as it is. */
export const GateText = text('GateText', `Text of 1 to ${LONGEST} characters.`, {
  min: 1,
  max: LONGEST,
  example: 'gate-2-20260302-000147',
});

const WORKER = /^wkr_[a-zA-Z0-9]+$/;

/** The pattern of a worker on a sign-on event, wider than the id's own (ATT-1). */
export const GateWorkerId = scalar<string>({
  name: 'GateWorkerId',
  description: 'Identifier of a worker, which begins with `wkr_`.',
  jsonSchema: {
    type: 'string',
    pattern: WORKER.source,
    maxLength: LONGEST,
    examples: ['wkr_a0mkq3v8t2n4c7x1p9r5w6yzb'],
  },
  parse: (value) =>
    typeof value === 'string' && value.length <= LONGEST && WORKER.test(value)
      ? value
      : fail(`must be an identifier like wkr_a0mkq3v8t2n4c7x1p9r5w6yzb, of at most ${LONGEST} characters`),
});

const ZONES = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);

/** Where the day of an attendance is reckoned. */
export const TimeZone = scalar<string>({
  name: 'TimeZone',
  description: 'Name of a time zone in the IANA database.',
  jsonSchema: { type: 'string', examples: ['Australia/Sydney'] },
  specifiedBy: STANDARDS.timeZone,
  parse: (value) =>
    typeof value === 'string' && ZONES.has(value) ? value : fail('must be a time zone such as Australia/Sydney'),
});

export const CalendarDate = scalar<string>({
  name: 'CalendarDate',
  description: 'Day of the calendar, such as `2026-03-02`.',
  jsonSchema: { type: 'string', format: 'date', examples: ['2026-03-02'] },
  specifiedBy: STANDARDS.dateTime,
  parse: (value) =>
    typeof value === 'string' && toInstant(`${value}T00:00:00Z`) ? value : fail('must be an ISO 8601 date'),
});
