import { fail, STANDARDS, scalar } from '../../schema/scalar.ts';
import { text, toInstant } from '../../schema/scalars.ts';

const UTC_INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|\+00:00)$/;

/** Instant in UTC, to the millisecond or coarser (ATT-2). */
export const GateInstant = scalar<string>({
  name: 'GateInstant',
  description: 'ISO 8601 date-time in UTC, ending in `Z` or `+00:00`, with at most three decimals of a second.',
  jsonSchema: { type: 'string', pattern: UTC_INSTANT.source, examples: ['2026-03-02T07:30:00.000Z'] },
  specifiedBy: STANDARDS.dateTime,
  parse: (value) =>
    (typeof value === 'string' && UTC_INSTANT.test(value) && toInstant(value)) ||
    fail(
      'must be a date-time in UTC such as 2026-03-02T07:30:00Z or 2026-03-02T07:30:00.000+00:00, with at most three decimals',
    ),
});

/** Maximum length of each text of a sign-on event (ATT-1). */
const MAX_LENGTH = 200;

/** Identifier or name that the gate assigns; stored unchanged. */
export const GateText = text('GateText', `Text of 1 to ${MAX_LENGTH} characters.`, {
  min: 1,
  max: MAX_LENGTH,
  example: 'gate-2-20260302-000147',
});

const WORKER_ID = /^wkr_[a-zA-Z0-9]+$/;

/** Id of a worker in a sign-on event. Accepts more than `WorkerId` does (ATT-1). */
export const GateWorkerId = scalar<string>({
  name: 'GateWorkerId',
  description: 'Identifier of a worker, which begins with `wkr_`.',
  jsonSchema: {
    type: 'string',
    pattern: WORKER_ID.source,
    maxLength: MAX_LENGTH,
    examples: ['wkr_a0mkq3v8t2n4c7x1p9r5w6yzb'],
  },
  parse: (value) =>
    typeof value === 'string' && value.length <= MAX_LENGTH && WORKER_ID.test(value)
      ? value
      : fail(`must be an identifier like wkr_a0mkq3v8t2n4c7x1p9r5w6yzb, of at most ${MAX_LENGTH} characters`),
});
