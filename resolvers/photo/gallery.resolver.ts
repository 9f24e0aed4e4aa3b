import { Arg, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { Rest } from '../../schema/rest.ts';
import { BuilderId } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { bulkDelete } from '../../src/domain/photos/bulk-delete.ts';
import { bulkUpsert } from '../../src/domain/photos/bulk-upsert.ts';
import { DEADLINE_MS } from '../../src/domain/photos/gallery-images.ts';
import { BulkDeleteArgs, BulkUpsertArgs } from './gallery.input.ts';
import { BulkDeleteResult, BulkUpsertResult } from './gallery.type.ts';

const tag = 'Photos';

@Resolver()
export class GalleryResolver {
  @Mutation(() => BulkUpsertResult, {
    description: `Brings the photos of a page of another application into the gallery of a project. A photo is known by integrator, builder, \`sourceApp\`, page and photo: one that is there already is skipped. A photo whose image cannot be used fails alone, and all others are stored. When the page has moved to another project, the transaction that creates its first photo there, and with it the destination folder, archives **all** active copies of the page in every other project, those that this call does not name included. If every photo fails, no folder is made and nothing moves. What is not done within ${DEADLINE_MS / 1000} seconds fails with \`TIMEOUT\`: send the same again to go on from there.`,
  })
  @Rest('POST /builders/{builderId}/photo-gallery/bulk-upsert', { scope: 'write:photos', tag })
  bulkUpsertPhotos(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() input: BulkUpsertArgs,
    @Ctx() context: RequestContext,
  ): Promise<BulkUpsertResult> {
    context.caller.requireIntegrator();
    return bulkUpsert(context, builderId, input);
  }

  @Mutation(() => BulkDeleteResult, {
    description:
      'Removes the photos of a page of another application, in whatever project the page is now; the folder goes too when a sync has made it and it is left empty. Repeating it succeeds with empty `deletedAttachmentIds`.',
  })
  @Rest('DELETE /builders/{builderId}/photo-gallery/bulk-upsert', { scope: 'write:photos', tag })
  bulkDeletePhotos(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() input: BulkDeleteArgs,
    @Ctx() context: RequestContext,
  ): Promise<BulkDeleteResult> {
    context.caller.requireIntegrator();
    return bulkDelete(context, builderId, input);
  }
}
