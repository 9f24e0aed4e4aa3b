import { Arg, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { Rest } from '../../schema/rest.ts';
import { BuilderId } from '../../schema/scalars.ts';
import { requireIntegrator } from '../access.ts';
import type { Context } from '../context.ts';
import { bulkDelete } from './bulk-delete.ts';
import { bulkUpsert } from './bulk-upsert.ts';
import { BulkDeleteArgs, BulkUpsertArgs } from './gallery.input.ts';
import { BulkDeleteResult, BulkUpsertResult } from './gallery.type.ts';

const tag = 'Photos';

@Resolver()
export class GalleryResolver {
  @Mutation(() => BulkUpsertResult, {
    description:
      'Bring the photos of a page of another application into the gallery. Photos that are there are skipped. When the first new photo is made, every copy of the page in every other project is archived, whether the call names it or not; if every photo fails, nothing moves.',
  })
  @Rest('POST /builders/{builderId}/photo-gallery/bulk-upsert', { scope: 'write:photos', tag })
  bulkUpsertPhotos(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() input: BulkUpsertArgs,
    @Ctx() context: Context,
  ): Promise<BulkUpsertResult> {
    requireIntegrator(context);
    return bulkUpsert(context, builderId, input);
  }

  @Mutation(() => BulkDeleteResult, {
    description: 'Remove the photos of a page of another application. What is removed already stays so.',
  })
  @Rest('DELETE /builders/{builderId}/photo-gallery/bulk-upsert', { scope: 'write:photos', tag })
  bulkDeletePhotos(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() input: BulkDeleteArgs,
    @Ctx() context: Context,
  ): Promise<BulkDeleteResult> {
    requireIntegrator(context);
    return bulkDelete(context, builderId, input);
  }
}
