import { Arg, Args, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Defect } from '../../entities/defect.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { RenditionSize } from '../../schema/enums.ts';
import { GraphOnly, Rest } from '../../schema/rest.ts';
import { AttachmentId, BuilderId, FolderId, ProjectId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import type { IdempotentRequest } from '../../src/domain/create-once.ts';
import { archivePhoto, updatePhoto } from '../../src/domain/photos/change-photo.ts';
import { createPhoto } from '../../src/domain/photos/create-photo.ts';
import { ensureRenditions } from '../../src/domain/photos/render-photo.ts';
import { findRenditions, toRendition } from '../../src/domain/photos/renditions.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { photoFolders, photos } from '../../src/domain/readers/photo.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { unavailable } from '../../src/shared/errors.ts';
import { SIGNED_URL_SECONDS } from '../../src/storage/storage.ts';
import { builderPage, builderRecord, DescribedType, pageEdge, recordEdge } from '../fields.ts';
import { Idempotent } from '../idempotent.ts';
import { CreatePhotoArgs, PhotoSourceArgs, toSources, UpdatePhotoArgs } from './photo.input.ts';
import { Rendition } from './rendition.type.ts';

@Resolver(() => Photo)
export class PhotoResolver {
  @Mutation(() => Photo, {
    description: 'Creates a photo of the gallery from an uploaded image or one on an approved host.',
  })
  @Rest('POST /builders/{builderId}/photos', { scope: 'write:photos', tag: 'Photos', status: 201 })
  createPhoto(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() input: CreatePhotoArgs,
    @Idempotent() request: IdempotentRequest | null,
    @Ctx() context: RequestContext,
  ): Promise<Photo> {
    context.caller.requireIntegrator();
    return createPhoto(context, builderId, input, request);
  }

  @Mutation(() => Photo, {
    description: 'Changes the name, description, capture time or folder of a photo of the gallery.',
  })
  @Rest('PATCH /builders/{builderId}/photos/{photoId}', { scope: 'write:photos', tag: 'Photos' })
  updatePhoto(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('photoId', () => AttachmentId) photoId: string,
    @Args() changes: UpdatePhotoArgs,
    @Ctx() context: RequestContext,
  ): Promise<Photo> {
    return updatePhoto(context, { builderId, photoId }, changes);
  }

  @Mutation(() => Photo, { description: 'Archives a photo of the gallery.' })
  @Rest('DELETE /builders/{builderId}/photos/{photoId}', { scope: 'write:photos', tag: 'Photos' })
  deletePhoto(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('photoId', () => AttachmentId) photoId: string,
    @Ctx() context: RequestContext,
  ): Promise<Photo> {
    return archivePhoto(context, { builderId, photoId });
  }

  @FieldResolver(() => String, {
    description: `Signed URL to download the image, for ${SIGNED_URL_SECONDS / 60} minutes.`,
  })
  @Reads('key', 'contentType', 'fileName')
  imageUrl(
    @Root() { key, contentType, fileName }: Pick<Photo, 'key' | 'contentType' | 'fileName'>,
    @Ctx() { storage }: RequestContext,
  ): string {
    return storage.createDownloadUrl(key, contentType, fileName);
  }

  @FieldResolver(() => Rendition, {
    nullable: true,
    description:
      'The photo as WebP, in a size and colours that every browser displays. Null, with an error, while there is no capacity to render it.',
  })
  @GraphOnly()
  @Reads('id', 'builderId', 'key')
  async rendition(
    @Root() photo: Pick<Photo, 'id' | 'builderId' | 'key'>,
    @Arg('size', () => RenditionSize) size: RenditionSize,
    @Ctx() context: RequestContext,
  ): Promise<Rendition> {
    const { loaders, storage, usage } = context;
    const storedState = await loaders.loadFrom('renditions', photo.id, findRenditions);
    if (storedState) return toRendition(storage, photo, storedState, size);
    const ended = new AbortController();
    usage.onEnd(() => ended.abort(unavailable(new Error('The response has ended.'))));
    return toRendition(storage, photo, await ensureRenditions(context, photo, ended.signal), size);
  }

  @FieldResolver()
  @Reads('fileSize')
  fileSize(@Root() { fileSize }: Pick<Photo, 'fileSize'>): string {
    return String(fileSize);
  }
}

@Resolver(() => Defect)
export class DefectPhotosResolver {
  @FieldResolver(() => [Photo], { description: 'The active photos of the defect.' })
  @GraphOnly()
  @Reads('builderId', 'photoIds')
  async photos(
    @Root() { builderId, photoIds }: Pick<Defect, 'builderId' | 'photoIds'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Photo[]> {
    const found = await Promise.all(photoIds.map((id) => loaders.load(photos.select(selection), id, { builderId })));
    return found.filter((photo) => photo !== null);
  }
}

const toFilters = (filters: PhotoSourceArgs) => ({ ...filters, source: toSources(filters) });
const filtered = { args: [PhotoSourceArgs], where: toFilters };

const readPhotos = { scope: 'read:photos', tag: 'Photos' } as const;

export const photoFields = [
  builderPage('photos', photos, 'The active photos of a builder.', {
    operation: Rest('GET /builders/{builderId}/photos', readPhotos),
    args: [
      {
        folderId: new DescribedType(FolderId, 'Only photos directly in this folder.'),
        projectId: new DescribedType(ProjectId, 'Only photos of this project.'),
      },
      PhotoSourceArgs,
    ],
    where: toFilters,
  }),
  builderRecord('photo', photos, { photoId: AttachmentId }, ['Photo', 'One active photo.'], {
    operation: Rest('GET /builders/{builderId}/photos/{photoId}', readPhotos),
    ...filtered,
  }),
  pageEdge(Builder, 'photos', photos, 'builderId', 'The active photos of the builder.', filtered),
  pageEdge(Project, 'photos', photos, 'projectId', 'The active photos of the project.', {
    args: [PhotoSourceArgs, { folderId: FolderId }],
    where: toFilters,
  }),
  pageEdge(PhotoFolder, 'photos', photos, 'folderId', 'The active photos in the folder.'),
  recordEdge(Photo, 'builder', builders, 'builderId', 'The builder whose photo it is.'),
  recordEdge(Photo, 'project', projects, 'projectId', 'The project that it was taken on.', { nullable: true }),
  recordEdge(Photo, 'folder', photoFolders, 'folderId', 'The folder that it is in.', { nullable: true }),
];
