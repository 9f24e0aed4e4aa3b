import { Arg, Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Defect } from '../../entities/defect.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly } from '../../schema/rest.ts';
import { FolderId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { photos } from '../../src/domain/readers/photo.reader.ts';
import { PhotoSourceArgs, sourcesOf } from './photo.input.ts';

const PhotoPage = PageOf(Photo);

@Resolver(() => Builder)
export class BuilderPhotosResolver {
  @FieldResolver(() => PhotoPage, { description: 'The active photos of the builder.' })
  @GraphOnly()
  @Reads('id')
  photos(
    @Root() builder: Pick<Builder, 'id'>,
    @Args() source: PhotoSourceArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Photo>> {
    return loaders.page(
      photos.reading(selection),
      'builderId',
      builder.id,
      { source: sourcesOf(source) },
      windowOf(page),
    );
  }
}

@Resolver(() => Project)
export class ProjectPhotosResolver {
  @FieldResolver(() => PhotoPage, { description: 'The active photos of the project.' })
  @GraphOnly()
  @Reads('id')
  photos(
    @Root() project: Pick<Project, 'id'>,
    @Args() source: PhotoSourceArgs,
    @Arg('folderId', () => FolderId, { nullable: true }) folderId: string | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Photo>> {
    return loaders.page(
      photos.reading(selection),
      'projectId',
      project.id,
      { source: sourcesOf(source), folderId },
      windowOf(page),
    );
  }
}

@Resolver(() => PhotoFolder)
export class FolderPhotosResolver {
  @FieldResolver(() => PhotoPage, { description: 'The active photos in the folder.' })
  @GraphOnly()
  @Reads('id')
  photos(
    @Root() folder: Pick<PhotoFolder, 'id'>,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Photo>> {
    return loaders.page(photos.reading(selection), 'folderId', folder.id, {}, windowOf(page));
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
    const found = await Promise.all(photoIds.map((id) => loaders.one(photos.reading(selection), id, { builderId })));
    return found.filter((photo) => photo !== null);
  }
}
