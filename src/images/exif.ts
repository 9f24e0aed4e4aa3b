import { toInstant } from '../../schema/scalars.ts';

const TAGS = ['DateTimeOriginal', 'OffsetTimeOriginal', 'SubSecTimeOriginal', 'CreateDate', 'OffsetTimeDigitized'];
const DATE = /^(\d{4})[:-](\d{2})[:-](\d{2})[ T](\d{2}):(\d{2}):(\d{2})/;
const OFFSET = /^[+-]\d{2}:\d{2}$|^Z$/;

/**
 * Returns the capture date of an EXIF block (a TIFF structure) in UTC; null when it has no valid one. A date without an offset counts as
 * UTC.
 */
export async function readCaptureDate(source: Buffer): Promise<string | null> {
  let tags: Record<string, unknown> | undefined;
  try {
    const { default: exifr } = await import('exifr');
    tags = await exifr.parse(source, { reviveValues: false, pick: TAGS });
  } catch {
    return null;
  }
  const { DateTimeOriginal, CreateDate, SubSecTimeOriginal } = tags ?? {};
  const original = typeof DateTimeOriginal === 'string' && DATE.test(DateTimeOriginal);
  const text = original ? DateTimeOriginal : CreateDate;
  const offset = original ? tags?.OffsetTimeOriginal : tags?.OffsetTimeDigitized;
  const match = typeof text === 'string' ? DATE.exec(text) : null;
  if (!match) return null;
  const [, year, month, day, hour, minute, second] = match;
  const fraction =
    original && /^\d{1,9}$/.test(String(SubSecTimeOriginal).trim())
      ? `.${String(SubSecTimeOriginal).trim().slice(0, 3)}`
      : '';
  const zone = typeof offset === 'string' && OFFSET.test(offset.trim()) ? offset.trim() : 'Z';
  // Cameras write `0000:00:00` before their clock is set, which is an invalid date and becomes null.
  return toInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${zone}`);
}
