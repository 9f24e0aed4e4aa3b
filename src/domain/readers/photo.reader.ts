import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { equal } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';

/** Active photos. */
export const photos = new Reader(Photo, {
  largeColumns: ['description'],
  filters: equal('builderId', 'source', 'projectId', 'folderId'),
  condition: 't.archived_at is null',
  exclude: ['integratorId', 'sourceApp', 'pageExternalSourceId', 'externalSourceId'],
});

export const photoFolders = new Reader(PhotoFolder, {
  filters: equal('builderId', 'projectId', 'parentId'),
  condition: 't.archived_at is null',
  exclude: ['integratorId', 'sourceApp', 'pageExternalSourceId', 'archivedAt'],
});
