/** Media types of the images that are accepted, judged by their bytes (UPL-18). */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/heic', 'image/heif'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** Accepted media types, with their other names. */
const TYPES_BY_NAME = new Map<string, ImageType>([
  ...IMAGE_TYPES.map((type) => [type, type] as const),
  ['image/jpg', 'image/jpeg'],
  ['image/apng', 'image/png'],
]);

/** Returns the image type of a declared media type; null when it is not accepted. */
export const parseImageType = (declared: string): ImageType | null =>
  TYPES_BY_NAME.get(declared.trim().toLowerCase()) ?? null;

/** Whether images of the type are opened and decoded by libheif. */
export const isHeic = (type: ImageType): type is 'image/heic' | 'image/heif' => /hei[cf]$/.test(type);

/** Whether two types are the same. HEIC is HEIF with a certain codec, so clients may declare either for both. */
export const isSameType = (one: ImageType, other: ImageType) => one === other || (isHeic(one) && isHeic(other));

/** Properties of a checked image. Dimensions are those of its primary image as it is shown, after rotation and crop. */
export interface ImageFacts {
  contentType: ImageType;
  size: number;
  width: number;
  height: number;
  /** EXIF capture date in UTC. */
  takenAt: string | null;
}

/** Bytes that are not an accepted image; the message is for the client. */
export class BadImage extends Error {
  override name = 'BadImage';
}

/** A decoder that did not finish, because of the image or of the machine: another attempt may succeed. */
export class InterruptedDecode extends BadImage {
  override name = 'InterruptedDecode';
}

export const NOT_ACCEPTED = 'is not an image of an accepted type: JPEG, PNG, WebP, GIF, HEIC or HEIF';
