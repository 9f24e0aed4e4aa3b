import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly, Rest } from '../../schema/rest.ts';
import { BuilderId, FolderId } from '../../schema/scalars.ts';
import { notFound } from '../../src/errors.ts';
import { builders } from '../builder/builder.reader.ts';
import type { Context } from '../context.ts';
import { projects } from '../project/project.reader.ts';
import { CreateFolderArgs, FolderFilterArgs, UpdateFolderArgs } from './folder.input.ts';
import { createFolder, deleteFolder, updateFolder } from './folders.ts';
import { photoFolders } from './photo.reader.ts';

const PhotoFolderPage = PageOf(PhotoFolder);
const tag = 'Photos';

@Resolver(() => PhotoFolder)
export class PhotoFolderResolver {
  @Query(() => PhotoFolderPage, { description: 'The photo folders of a builder.' })
  @Rest('GET /builders/{builderId}/photo-folders', { scope: 'read:photos', tag })
  photoFolders(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() { projectId, parentId }: FolderFilterArgs,
    @Args() page: PageArgs,
    @Ctx() { database }: Context,
  ): Promise<Page<PhotoFolder>> {
    return photoFolders.page(database, { builderId, projectId, parentId }, windowOf(page));
  }

  @Query(() => PhotoFolder, { description: 'One photo folder.' })
  @Rest('GET /builders/{builderId}/photo-folders/{folderId}', { scope: 'read:photos', tag })
  async photoFolder(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('folderId', () => FolderId) folderId: string,
    @Ctx() { database }: Context,
  ): Promise<PhotoFolder> {
    const folder = await photoFolders.one(database, folderId, { builderId });
    if (!folder) throw notFound('Photo folder');
    return folder;
  }

  @Mutation(() => PhotoFolder, { description: 'Make a photo folder.' })
  @Rest('POST /builders/{builderId}/photo-folders', { scope: 'write:photos', tag, status: 201 })
  createPhotoFolder(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() input: CreateFolderArgs,
    @Ctx() context: Context,
  ): Promise<PhotoFolder> {
    return createFolder(context, builderId, input);
  }

  @Mutation(() => PhotoFolder, { description: 'Rename a photo folder, or move it.' })
  @Rest('PATCH /builders/{builderId}/photo-folders/{folderId}', {
    scope: 'write:photos',
    tag,
    conflicts: ['FOLDER_CYCLE'],
  })
  updatePhotoFolder(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('folderId', () => FolderId) folderId: string,
    @Args() changes: UpdateFolderArgs,
    @Ctx() context: Context,
  ): Promise<PhotoFolder> {
    return updateFolder(context, { builderId, folderId }, changes);
  }

  @Mutation(() => PhotoFolder, { description: 'Delete an empty photo folder.' })
  @Rest('DELETE /builders/{builderId}/photo-folders/{folderId}', {
    scope: 'write:photos',
    tag,
    conflicts: ['FOLDER_NOT_EMPTY'],
  })
  deletePhotoFolder(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('folderId', () => FolderId) folderId: string,
    @Ctx() context: Context,
  ): Promise<PhotoFolder> {
    return deleteFolder(context, { builderId, folderId });
  }

  @FieldResolver(() => Builder, { description: 'The builder whose folder it is.' })
  @GraphOnly()
  builder(@Root() folder: PhotoFolder, @Ctx() { loaders }: Context): Promise<Builder | null> {
    return loaders.one(builders, folder.builderId);
  }

  @FieldResolver(() => Project, { nullable: true, description: 'The project that it is about.' })
  @GraphOnly()
  project(@Root() { projectId }: PhotoFolder, @Ctx() { loaders }: Context): Promise<Project | null> | null {
    return projectId === null ? null : loaders.one(projects, projectId);
  }

  @FieldResolver(() => PhotoFolder, { nullable: true, description: 'The folder that it is in.' })
  @GraphOnly()
  parent(@Root() { parentId }: PhotoFolder, @Ctx() { loaders }: Context): Promise<PhotoFolder | null> | null {
    return parentId === null ? null : loaders.one(photoFolders, parentId);
  }

  @FieldResolver(() => PhotoFolderPage, { description: 'The folders directly in it.' })
  @GraphOnly()
  folders(
    @Root() folder: PhotoFolder,
    @Args() page: PageArgs,
    @Ctx() { loaders }: Context,
  ): Promise<Page<PhotoFolder>> {
    return loaders.page(photoFolders, 'parentId', folder.id, {}, windowOf(page));
  }
}

@Resolver(() => Project)
export class ProjectFoldersResolver {
  @FieldResolver(() => PhotoFolderPage, { description: 'The photo folders of the project.' })
  @GraphOnly()
  photoFolders(
    @Root() project: Project,
    @Args() page: PageArgs,
    @Ctx() { loaders }: Context,
  ): Promise<Page<PhotoFolder>> {
    return loaders.page(photoFolders, 'projectId', project.id, {}, windowOf(page));
  }
}
