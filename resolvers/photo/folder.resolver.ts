import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly, Rest } from '../../schema/rest.ts';
import { BuilderId, FolderId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
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
    @Selected() selection: Selection | null,
    @Ctx() { database }: Context,
  ): Promise<Page<PhotoFolder>> {
    return photoFolders.reading(selection).page(database, { builderId, projectId, parentId }, windowOf(page));
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
  @Reads('builderId')
  builder(
    @Root() folder: Pick<PhotoFolder, 'builderId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: Context,
  ): Promise<Builder | null> {
    return loaders.one(builders.reading(selection), folder.builderId);
  }

  @FieldResolver(() => Project, { nullable: true, description: 'The project that it is about.' })
  @GraphOnly()
  @Reads('projectId')
  project(
    @Root() { projectId }: Pick<PhotoFolder, 'projectId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: Context,
  ): Promise<Project | null> | null {
    return projectId === null ? null : loaders.one(projects.reading(selection), projectId);
  }

  @FieldResolver(() => PhotoFolder, { nullable: true, description: 'The folder that it is in.' })
  @GraphOnly()
  @Reads('parentId')
  parent(
    @Root() { parentId }: Pick<PhotoFolder, 'parentId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: Context,
  ): Promise<PhotoFolder | null> | null {
    return parentId === null ? null : loaders.one(photoFolders.reading(selection), parentId);
  }

  @FieldResolver(() => PhotoFolderPage, { description: 'The folders directly in it.' })
  @GraphOnly()
  @Reads('id')
  folders(
    @Root() folder: Pick<PhotoFolder, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: Context,
  ): Promise<Page<PhotoFolder>> {
    return loaders.page(photoFolders.reading(selection), 'parentId', folder.id, {}, windowOf(page));
  }
}

@Resolver(() => Project)
export class ProjectFoldersResolver {
  @FieldResolver(() => PhotoFolderPage, { description: 'The photo folders of the project.' })
  @GraphOnly()
  @Reads('id')
  photoFolders(
    @Root() project: Pick<Project, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: Context,
  ): Promise<Page<PhotoFolder>> {
    return loaders.page(photoFolders.reading(selection), 'projectId', project.id, {}, windowOf(page));
  }
}
