import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { Reader } from '../../database/read/reader.ts';

/** Active photos. */
export const photos = new Reader(Photo, {
  large: ['description'],
  filters: {
    builderId: 't.builder_id = :builderId',
    source: 't.source = any(:source::text[])',
    projectId: 't.project_id = :projectId',
    folderId: 't.folder_id = :folderId',
  },
  always: 't.archived_at is null',
  totalBy: 'source',
  without: ['integratorId', 'sourceApp', 'pageExternalSourceId', 'externalSourceId'],
});

export const photoFolders = new Reader(PhotoFolder, {
  filters: {
    builderId: 't.builder_id = :builderId',
    projectId: 't.project_id = :projectId',
    parentId: 't.parent_id = :parentId',
  },
  always: 't.archived_at is null',
  without: ['integratorId', 'sourceApp', 'pageExternalSourceId', 'archivedAt'],
});
