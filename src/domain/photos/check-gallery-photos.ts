import { type FieldError, ValidationError } from '../../shared/errors.ts';
import type { GalleryPhotoInput } from './photo-inputs.ts';

/** Throws 400 with all errors of a list of photos: repeated identifiers, and photos without exactly one image. */
export function checkGalleryPhotos(photos: readonly GalleryPhotoInput[]): void {
  const errors: FieldError[] = [];
  const addError = (fieldName: string, message: string) => errors.push({ fieldName, message });
  const first = new Map<string, number>();
  photos.forEach((photo, at) => {
    const earlier = first.get(photo.externalSourceId);
    if (earlier !== undefined) addError(`photos[${at}].externalSourceId`, `is that of photos[${earlier}] too`);
    else first.set(photo.externalSourceId, at);
    if (Boolean(photo.imageAttachment) === Boolean(photo.imageUrl)) {
      addError(`photos[${at}].imageAttachment`, 'give either imageAttachment or imageUrl');
    }
  });
  if (errors.length > 0) throw new ValidationError(errors);
}
