/** Media types of the images that are accepted, judged by their bytes (UPL-18). */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/heic', 'image/heif'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

const ALIASES: Record<string, ImageType> = { 'image/jpg': 'image/jpeg', 'image/apng': 'image/png' };

/** The image type that a client means; null for anything that is no accepted image type. */
export function imageTypeOf(declared: string): ImageType | null {
  const name = declared.trim().toLowerCase();
  if (name in ALIASES) return ALIASES[name]!;
  return (IMAGE_TYPES as readonly string[]).includes(name) ? (name as ImageType) : null;
}

/** HEIC is HEIF under the brand of its codec: a client may call either by either name. */
export const isSameType = (one: ImageType, other: ImageType) =>
  one === other || (/hei[cf]$/.test(one) && /hei[cf]$/.test(other));

/** What is known of an image once it was checked. */
export interface ImageFacts {
  contentType: ImageType;
  size: number;
  width: number;
  height: number;
  /** EXIF capture date in UTC; one without an offset is taken for UTC. */
  takenAt: string | null;
}

/** Bytes that are not an image we accept; the message is for the client. */
export class BadImage extends Error {
  override name = 'BadImage';
}
