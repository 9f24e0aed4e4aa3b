import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { Reader } from '../../database/read/reader.ts';

/** Active photos. */
export const photos = new Reader(Photo, {
  largeColumns: ['description'],
  filters: {
    builderId: { column: 'builder_id', op: 'eq' },
    source: { column: 'source', op: 'in' },
    projectId: { column: 'project_id', op: 'eq' },
    folderId: { column: 'folder_id', op: 'eq' },
  },
  condition: 't.archived_at is null',
  exclude: ['integratorId', 'sourceApp', 'pageExternalSourceId', 'externalSourceId'],
});

export const photoFolders = new Reader(PhotoFolder, {
  filters: {
    builderId: { column: 'builder_id', op: 'eq' },
    projectId: { column: 'project_id', op: 'eq' },
    parentId: { column: 'parent_id', op: 'eq' },
  },
  condition: 't.archived_at is null',
  exclude: ['integratorId', 'sourceApp', 'pageExternalSourceId', 'archivedAt'],
});
