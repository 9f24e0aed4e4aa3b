import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { DAY_MS } from '../../shared/clock.ts';
import { cursorExpired, invalidField } from '../../shared/errors.ts';
import type { RegionId } from '../../shared/regions.ts';
import type { LogHead, LogPosition } from './event-log.ts';

/*
 * A cursor is the position in one block of AES, behind the beginning of the epoch and before a checksum of both and the region. The
 * position is encrypted because differences of numbers would reveal to an integrator how much other builders change.
 */

const EPOCH_BYTES = 6;
const BLOCK_BYTES = 16;
const CHECKSUM_BYTES = 4;
/** Days from 1970 to the year 9999. */
const MAX_DAYS = 2_932_896;

type LogState = Pick<LogHead, 'epoch' | 'secret' | 'number' | 'droppedNumber'>;

/** Returns the cursor of a position, which is valid in its region and in the epoch of the log. */
export function encodeEventCursor(
  region: RegionId,
  state: Pick<LogState, 'epoch' | 'secret'>,
  { day, number }: LogPosition,
): string {
  const position = Buffer.alloc(BLOCK_BYTES);
  position.writeBigUInt64BE(BigInt(number));
  position.writeUInt32BE(Date.parse(day) / DAY_MS, 8);
  const cipher = createCipheriv('aes-128-ecb', toKey(state), null).setAutoPadding(false);
  const content = Buffer.concat([toEpoch(state), cipher.update(position)]);
  return Buffer.concat([content, computeChecksum(region, content)]).toString('base64url');
}

/**
 * Returns the position of a cursor. Throws a `ValidationError` for a text that is no cursor of the region, and `CURSOR_EXPIRED` for a
 * cursor of another epoch, of days that were dropped, or from behind the end of the log, which a promotion has shortened.
 */
export function decodeEventCursor(region: RegionId, state: LogState, cursor: string): LogPosition {
  const bytes = Buffer.from(cursor, 'base64url');
  const content = bytes.subarray(0, EPOCH_BYTES + BLOCK_BYTES);
  const isIntact =
    bytes.length === EPOCH_BYTES + BLOCK_BYTES + CHECKSUM_BYTES &&
    bytes.toString('base64url') === cursor &&
    computeChecksum(region, content).equals(bytes.subarray(content.length));
  const invalid = invalidField('after', 'must be the nextCursor of a page of events of this region');
  if (!isIntact) throw invalid;
  if (!toEpoch(state).equals(content.subarray(0, EPOCH_BYTES))) throw cursorExpired();
  const decipher = createDecipheriv('aes-128-ecb', toKey(state), null).setAutoPadding(false);
  const position = decipher.update(content.subarray(EPOCH_BYTES));
  const number = Number(position.readBigUInt64BE());
  const days = position.readUInt32BE(8);
  // The checksum is no secret: the bytes of a made-up cursor decrypt to anything.
  if (!Number.isSafeInteger(number) || days > MAX_DAYS) throw invalid;
  if (number < state.droppedNumber || number > state.number) throw cursorExpired();
  return { number, day: new Date(days * DAY_MS).toISOString().slice(0, 10) };
}

const toKey = ({ secret }: Pick<LogState, 'secret'>) => Buffer.from(secret.replaceAll('-', ''), 'hex');
const toEpoch = ({ epoch }: Pick<LogState, 'epoch'>) => Buffer.from(epoch, 'hex').subarray(0, EPOCH_BYTES);

const computeChecksum = (region: RegionId, content: Buffer): Buffer =>
  createHash('sha256').update(`events ${region} `).update(content).digest().subarray(0, CHECKSUM_BYTES);
