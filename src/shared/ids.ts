import { randomBytes } from 'node:crypto';

/** Every identifier prefix: IDN-1, then IDN-2. */
export const ID_PREFIXES = {
  builder: 'buil',
  project: 'proj',
  subcontractor: 'sub',
  swms: 'swms',
  prequalification: 'prequal',
  induction: 'ind',
  worker: 'wkr',
  profile: 'pers',
  timesheet: 'ts',
  timesheetGroup: 'tsg',
  costCode: 'tscc',
  timeType: 'tstt',
  photoReport: 'phrep',
  page: 'page',
  attachment: 'att',
  defect: 'defect',
  location: 'loc',
  user: 'user',
  signOnEvent: 'saevt',
  signOnVisit: 'signon',
  meeting: 'meet',
  meetingNote: 'mnote',
  folder: 'fold',
  insurance: 'doc',
  contact: 'con',
  meetingTemplate: 'mtpl',
  integrator: 'intg',
  client: 'cli',
  tag: 'tag',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const RANDOM_CHARACTERS = 16;
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/**
 * A new identifier: `<prefix>_`, the letter `a`, nine characters of milliseconds in base 36 (so ids sort by creation time and
 * stay close together in an index), then 16 random characters (82 bits: not guessable).
 *
 * @param random gives that many random bytes; seeded for demo data, which has the same ids each time.
 */
export function newId(kind: IdKind, now: number, random: (bytes: number) => Uint8Array = drawBytes): string {
  const time = Math.floor(now).toString(36).padStart(9, '0');
  return `${ID_PREFIXES[kind]}_a${time}${randomText(RANDOM_CHARACTERS, random)}`;
}

/** Whether the text has the shape of such an identifier: `^<prefix>_[a-z0-9]+$` (IDN-4). */
export function isId(kind: IdKind, text: string): boolean {
  return idPattern(kind).test(text);
}

const patterns = new Map<IdKind, RegExp>();

export function idPattern(kind: IdKind): RegExp {
  let pattern = patterns.get(kind);
  if (!pattern) {
    pattern = new RegExp(`^${ID_PREFIXES[kind]}_[a-z0-9]+$`);
    patterns.set(kind, pattern);
  }
  return pattern;
}

const DRAW = 4096;
let drawn = Buffer.alloc(0);

/** Random bytes, of many that were drawn at once: each draw asks the system. */
function drawBytes(count: number): Uint8Array {
  if (drawn.length < count) drawn = randomBytes(DRAW);
  const bytes = drawn.subarray(0, count);
  drawn = drawn.subarray(count);
  return bytes;
}

/** Uniform base-36 text: bytes of 252 and above are thrown away, because 256 is not a multiple of 36. */
function randomText(length: number, random: (bytes: number) => Uint8Array): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length)) {
      if (byte < 252 && text.length < length) text += ALPHABET[byte % 36];
    }
  }
  return text;
}
