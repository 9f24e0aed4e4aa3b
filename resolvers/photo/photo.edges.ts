import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Defect } from '../../entities/defect.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { GraphOnly } from '../../schema/rest.ts';
import { FolderId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { photos } from '../../src/domain/readers/photo.reader.ts';
import { pageEdge } from '../edges.ts';
import { PhotoSourceArgs, toSources } from './photo.input.ts';

const toFilters = ({ source, folderId }: PhotoSourceArgs & { folderId?: string | null }) => ({
  source: toSources({ source }),
  folderId,
});

export const photoEdges = [
  pageEdge(Builder, 'photos', {
    description: 'The active photos of the builder.',
    reader: photos,
    by: 'builderId',
    args: [PhotoSourceArgs],
    where: toFilters,
  }),
  pageEdge(Project, 'photos', {
    description: 'The active photos of the project.',
    reader: photos,
    by: 'projectId',
    args: [PhotoSourceArgs, { folderId: FolderId }],
    where: toFilters,
  }),
  pageEdge(PhotoFolder, 'photos', { description: 'The active photos in the folder.', reader: photos, by: 'folderId' }),
];

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
