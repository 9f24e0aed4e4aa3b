import { toInstant } from '../../schema/scalars.ts';
import { fromLocalTime } from '../../schema/time-zone.ts';

/** Tags with a date of capture, the one to prefer first, each with those of its offset and its fraction of a second. */
const DATES = [
  ['DateTimeOriginal', 'OffsetTimeOriginal', 'SubSecTimeOriginal'],
  ['CreateDate', 'OffsetTimeDigitized', 'SubSecTimeDigitized'],
] as const;
const DATE = /^(\d{4})[:-](\d{2})[:-](\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?\s*(Z|[+-]\d{2}:?\d{2})?$/;
/** Offsets from -12:00 to +14:00: any other is that of a clock that was never set. */
const OFFSET = /^(?:Z|[+-](?:0\d|1[01]):?[0-5]\d|\+1[23]:?[0-5]\d|-12:?00|\+14:?00)$/;

/**
 * Returns the capture date of an EXIF block in UTC: that of the first tag that is a date. Null when there is none.
 *
 * @param block TIFF structure; HEIC puts its offset before it, and JPEG the marker `Exif`.
 * @param timeZone of a date without an offset.
 */
export async function readCaptureDate(block: Uint8Array | null | undefined, timeZone: string): Promise<string | null> {
  const tags = block ? await parseTags(Buffer.from(block), DATES.flat()) : {};
  for (const [date, offset, fraction] of DATES) {
    const instant = toCaptureInstant(readText(tags[date]), readText(tags[offset]), readText(tags[fraction]), timeZone);
    if (instant !== null) return instant;
  }
  return null;
}

/** Returns the orientation of an EXIF block, from 1 to 8; undefined when there is none. */
export async function readOrientation(block: Buffer): Promise<number | undefined> {
  const { Orientation: value } = await parseTags(block, ['Orientation']);
  return typeof value === 'number' && value >= 1 && value <= 8 ? value : undefined;
}

/** The TIFF structure begins with its byte order. */
const TIFF = /II\*\0|MM\0\*/;

async function parseTags(block: Buffer, pick: string[]): Promise<Record<string, unknown>> {
  const start = block.toString('latin1', 0, 64).search(TIFF);
  if (start === -1) return {};
  const { default: exifr } = await import('exifr');
  const options = { reviveValues: false, translateValues: false, pick };
  return (await exifr.parse(block.subarray(start), options).catch(() => undefined)) ?? {};
}

const readText = (value: unknown): string =>
  String(value ?? '')
    .replaceAll('\0', '')
    .trim();

/** Returns null for a text that is no date, such as the `0000:00:00` that cameras write before their clock is set. */
function toCaptureInstant(text: string, offset: string, subSeconds: string, timeZone: string): string | null {
  const match = DATE.exec(text);
  if (!match) return null;
  const [, year, month, day, time, fraction = /^\d{1,9}$/.test(subSeconds) ? subSeconds : '0', ownOffset] = match;
  const local = `${year}-${month}-${day}T${time}.${fraction.slice(0, 3)}`;
  const zone = [ownOffset ?? '', offset].find((each) => OFFSET.test(each));
  if (zone) return toInstant(`${local}${zone.replace(/^(...):?(..)$/, '$1:$2')}`);
  const shown = toInstant(`${local}Z`);
  return shown && toInstant(new Date(fromLocalTime(Date.parse(shown), timeZone)).toISOString());
}
