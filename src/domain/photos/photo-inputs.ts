import type { BulkDeleteStatus, RegionId } from '../../../schema/enums.ts';

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

export interface CreatePhotoInput extends ImageReference {
  fileName: string;
  projectId?: string | null;
  folderId?: string | null;
  capturedAt?: string | null;
  description?: string | null;
  externalSourceId?: string | null;
}

/** Changes of a photo. An absent field stays as it is. */
export interface UpdatePhotoInput {
  fileName?: string | null;
  description?: string | null;
  capturedAt?: string | null;
  folderId?: string | null;
}

export interface CreateFolderInput {
  name: string;
  projectId?: string | null;
  parentId?: string | null;
}

/** Changes of a folder. An absent field stays as it is. */
export interface UpdateFolderInput {
  name?: string | null;
  parentId?: string | null;
}

/** A photo of a synced gallery page; `externalSourceId` is unique within the page. */
export interface GalleryPhotoInput extends ImageReference {
  externalSourceId: string;
  fileName?: string | null;
  sequenceId?: number | string | null;
  /** Pixels. */
  width?: number | null;
  height?: number | null;
  capturedAt?: string | null;
  description?: string | null;
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
export interface BulkDeleteInput {
  externalSourceId: string;
  sourceApp: string;
  projectId?: string | null;
  folderId?: string | null;
}

interface GalleryPhotoIds {
  externalSourceId: string;
  attachmentId: string;
}

export interface BulkUpsertResult {
  folderId: string | null;
  createdAttachmentIds: string[];
  createdPhotos: GalleryPhotoIds[];
  skippedExternalSourceIds: string[];
  skippedPhotos: GalleryPhotoIds[];
  failedPhotos: { externalSourceId: string; code: string; message: string }[];
}

export interface BulkDeleteResult {
  status: BulkDeleteStatus;
  folderId: string | null;
  deletedAttachmentIds: string[];
}
