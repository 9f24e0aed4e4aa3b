import { Arg, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, FolderId, ProjectId } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import type { IdempotentRequest } from '../../src/domain/create-once.ts';
import { createFolder, deleteFolder, updateFolder } from '../../src/domain/photos/folders.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { photoFolders } from '../../src/domain/readers/photo.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { builderPage, builderRecord, DescribedType, pageEdge, recordEdge } from '../fields.ts';
import { Idempotent } from '../idempotent.ts';
import { CreateFolderArgs, UpdateFolderArgs } from './folder.input.ts';

const tag = 'Photos';

@Resolver(() => PhotoFolder)
export class PhotoFolderResolver {
  @Mutation(() => PhotoFolder, { description: 'Creates a photo folder.' })
  @Rest('POST /builders/{builderId}/photo-folders', { scope: 'write:photos', tag, status: 201 })
  createPhotoFolder(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() input: CreateFolderArgs,
    @Idempotent() request: IdempotentRequest | null,
    @Ctx() context: RequestContext,
  ): Promise<PhotoFolder> {
    return createFolder(context, builderId, input, request);
  }

  @Mutation(() => PhotoFolder, { description: 'Renames a photo folder, or moves it.' })
  @Rest('PATCH /builders/{builderId}/photo-folders/{folderId}', {
    scope: 'write:photos',
    tag,
    conflicts: ['FOLDER_CYCLE'],
  })
  updatePhotoFolder(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('folderId', () => FolderId) folderId: string,
    @Args() changes: UpdateFolderArgs,
    @Ctx() context: RequestContext,
  ): Promise<PhotoFolder> {
    return updateFolder(context, { builderId, folderId }, changes);
  }

  @Mutation(() => PhotoFolder, { description: 'Deletes an empty photo folder.' })
  @Rest('DELETE /builders/{builderId}/photo-folders/{folderId}', {
    scope: 'write:photos',
    tag,
    conflicts: ['FOLDER_NOT_EMPTY'],
  })
  deletePhotoFolder(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('folderId', () => FolderId) folderId: string,
    @Ctx() context: RequestContext,
  ): Promise<PhotoFolder> {
    return deleteFolder(context, { builderId, folderId });
  }
}

export const folderFields = [
  builderPage('photoFolders', photoFolders, 'The photo folders of a builder.', {
    operation: Rest('GET /builders/{builderId}/photo-folders', { scope: 'read:photos', tag }),
    args: [
      {
        parentId: new DescribedType(FolderId, 'Only the folders directly in this one.'),
        projectId: new DescribedType(ProjectId, 'Only folders of this project.'),
      },
    ],
  }),
  builderRecord('photoFolder', photoFolders, { folderId: FolderId }, ['Photo folder', 'One photo folder.'], {
    operation: Rest('GET /builders/{builderId}/photo-folders/{folderId}', { scope: 'read:photos', tag }),
  }),
  recordEdge(PhotoFolder, 'builder', builders, 'builderId', 'The builder whose folder it is.'),
  recordEdge(PhotoFolder, 'project', projects, 'projectId', 'The project that it is about.', { nullable: true }),
  recordEdge(PhotoFolder, 'parent', photoFolders, 'parentId', 'The folder that it is in.', { nullable: true }),
  pageEdge(PhotoFolder, 'folders', photoFolders, 'parentId', 'The folders directly in it.'),
  pageEdge(Project, 'photoFolders', photoFolders, 'projectId', 'The photo folders of the project.'),
];
