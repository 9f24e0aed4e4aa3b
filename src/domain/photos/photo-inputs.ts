import type { Photo } from '../../../entities/photo.entity.ts';
import type { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import type { RegionId } from '../../../schema/enums.ts';
import { isSent } from '../../../schema/input-rules.ts';
import type { FieldError } from '../../shared/errors.ts';

/** An upload, as the upload operation returned it. */
export interface AttachmentReference {
  key: string;
  regionId: RegionId;
}

/** Image of a photo: exactly one of an upload and a URL. */
export interface ImageReference {
  imageAttachment?: AttachmentReference | null;
  imageUrl?: string | null;
  /** Media type that the bytes must have, when given. */
  contentType?: string | null;
}

/**
 * Returns the error of a photo without exactly one image. An image that its type rejects counts as one.
 *
 * @param path of the photo in the input, with a dot at its end.
 */
export function findImageErrors(photo: ImageReference, path = ''): FieldError[] {
  if (isSent(photo, 'imageAttachment') !== isSent(photo, 'imageUrl')) return [];
  return [{ fieldName: `${path}imageAttachment`, message: 'give either imageAttachment or imageUrl' }];
}

type Optional<Name extends string, Value = string> = { [name in Name]?: Value | null };

export type CreatePhotoInput = ImageReference &
  Pick<Photo, 'fileName'> &
  Optional<'projectId' | 'folderId' | 'capturedAt' | 'description' | 'externalSourceId'>;

/** Changes of a photo. An absent field stays as it is. */
export type UpdatePhotoInput = Partial<Pick<Photo, 'fileName' | 'description' | 'folderId'>> & { capturedAt?: string };

export type CreateFolderInput = Pick<PhotoFolder, 'name'> & Partial<Pick<PhotoFolder, 'projectId' | 'parentId'>>;

/** Changes of a folder. An absent field stays as it is. */
export type UpdateFolderInput = Partial<Pick<PhotoFolder, 'name' | 'parentId'>>;

/** A photo of a synced gallery page; `externalSourceId` is unique within the page. */
export type GalleryPhotoInput = ImageReference & { externalSourceId: string } & Optional<
    'fileName' | 'capturedAt' | 'description'
  > &
  Optional<'sequenceId', number | string> &
  Optional<'width' | 'height', number>;

/**
 * Returns the errors of a list of photos: repeated identifiers, and photos without exactly one image. Values that their types reject are
 * `undefined`.
 */
export function findGalleryErrors(photos: readonly (GalleryPhotoInput | undefined)[] | undefined): FieldError[] {
  const indexes = new Map<string | undefined, number>();
  return (photos ?? []).flatMap((photo, index) => {
    if (!photo) return [];
    const path = `photos[${index}].`;
    const { externalSourceId } = photo;
    const earlier = externalSourceId === undefined ? undefined : indexes.get(externalSourceId);
    if (earlier === undefined) indexes.set(externalSourceId, index);
    const errors = findImageErrors(photo, path);
    if (earlier === undefined) return errors;
    return [{ fieldName: `${path}externalSourceId`, message: `is that of photos[${earlier}] too` }, ...errors];
  });
}

/** A gallery page of another application, identified by `sourceApp` and `externalSourceId`. */
export interface BulkUpsertInput {
  externalSourceId: string;
  sourceApp: string;
  projectId: string;
  folderName?: string | null;
  folderId?: string | null;
  photos: GalleryPhotoInput[];
}

/** Identifies a page. The page is deleted from whatever project and folder it is in; theirs are only echoed for an unknown page. */
export type BulkDeleteInput = Pick<BulkUpsertInput, 'externalSourceId' | 'sourceApp'> &
  Partial<Pick<Photo, 'projectId' | 'folderId'>>;
