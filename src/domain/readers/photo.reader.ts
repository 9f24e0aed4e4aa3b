import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { Reader } from '../../database/read/reader.ts';

/** Active photos. */
export const photos = new Reader(Photo, {
  largeColumns: ['description'],
  filters: {
    builderId: 't.builder_id = :builderId',
    source: 't.source = any(:source::text[])',
    projectId: 't.project_id = :projectId',
    folderId: 't.folder_id = :folderId',
  },
  condition: 't.archived_at is null',
  counterKind: 'source',
  mostRowsMatch: { source: ['GALLERY'] },
  exclude: ['integratorId', 'sourceApp', 'pageExternalSourceId', 'externalSourceId'],
});

export const photoFolders = new Reader(PhotoFolder, {
  filters: {
    builderId: 't.builder_id = :builderId',
    projectId: 't.project_id = :projectId',
    parentId: 't.parent_id = :parentId',
  },
  condition: 't.archived_at is null',
  exclude: ['integratorId', 'sourceApp', 'pageExternalSourceId', 'archivedAt'],
});
