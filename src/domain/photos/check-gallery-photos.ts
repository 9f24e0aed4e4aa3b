import { type FieldError, ValidationError } from '../../shared/errors.ts';
import type { GalleryPhotoInput } from './photo-inputs.ts';

/** Throws 400 with every error of a list of photos: repeated identifiers, and photos without exactly one image. */
export function checkGalleryPhotos(photos: readonly GalleryPhotoInput[]): void {
  const errors: FieldError[] = [];
  const refuse = (fieldName: string, message: string) => errors.push({ fieldName, message });
  const first = new Map<string, number>();
  photos.forEach((photo, at) => {
    const earlier = first.get(photo.externalSourceId);
    if (earlier !== undefined) refuse(`photos[${at}].externalSourceId`, `is that of photos[${earlier}] too`);
    else first.set(photo.externalSourceId, at);
    if (Boolean(photo.imageAttachment) === Boolean(photo.imageUrl)) {
      refuse(`photos[${at}].imageAttachment`, 'give either imageAttachment or imageUrl');
    }
  });
  if (errors.length > 0) throw new ValidationError(errors);
}
