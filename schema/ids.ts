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
  rosterEntry: 'access',
  meeting: 'meet',
  meetingNote: 'mnote',
  folder: 'fold',
  insurance: 'doc',
  contact: 'con',
  meetingTemplate: 'mtpl',
  integrator: 'intg',
  client: 'cli',
  tag: 'tag',
  auditEntry: 'aud',
  event: 'evt',
  webhookEndpoint: 'whe',
  webhookDelivery: 'whd',
  erasure: 'era',
  snapshot: 'snap',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** Returns the kind that is named like an entity: `costCode` of `CostCode`. Null where the entity has no identifier of its own. */
export function findIdKind(entity: string): IdKind | null {
  const kind = `${entity[0]!.toLowerCase()}${entity.slice(1)}`;
  return Object.hasOwn(ID_PREFIXES, kind) ? (kind as IdKind) : null;
}

const RANDOM_CHARACTERS = 16;
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/**
 * Returns a new identifier: `<prefix>_`, the letter `a`, nine characters of milliseconds in base 36 (so that ids sort by creation time and
 * new ones are adjacent in an index), then 16 random characters (82 bits: not guessable).
 *
 * @param random returns that number of random bytes; seeded for demo data, whose ids are reproducible.
 */
export function newId(kind: IdKind, now: number, random: (bytes: number) => Uint8Array = takeRandomBytes): string {
  const time = Math.floor(now).toString(36).padStart(9, '0');
  return `${ID_PREFIXES[kind]}_a${time}${randomText(RANDOM_CHARACTERS, random)}`;
}

/** Returns whether the text has the syntax of an identifier of that kind (IDN-4). */
export function isId(kind: IdKind, text: string): boolean {
  return idPattern(kind).test(text);
}

const patterns = new Map<IdKind, RegExp>();

/** Returns `^<prefix>_[a-z0-9]+$` (IDN-4). */
export function idPattern(kind: IdKind): RegExp {
  let pattern = patterns.get(kind);
  if (!pattern) {
    pattern = new RegExp(`^${ID_PREFIXES[kind]}_[a-z0-9]+$`);
    patterns.set(kind, pattern);
  }
  return pattern;
}

const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);

/** Returns random bytes from a pool: each call of `randomBytes` is a system call, and a sign-on took 50 of 400 µs for them. */
function takeRandomBytes(count: number): Uint8Array {
  if (pool.length < count) pool = randomBytes(POOL_BYTES);
  const bytes = pool.subarray(0, count);
  pool = pool.subarray(count);
  return bytes;
}

/** Returns uniformly random base-36 text. Bytes from 252 on are discarded, because 256 is not a multiple of 36. */
function randomText(length: number, random: (bytes: number) => Uint8Array): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length)) {
      if (byte < 252 && text.length < length) text += ALPHABET[byte % 36];
    }
  }
  return text;
}
