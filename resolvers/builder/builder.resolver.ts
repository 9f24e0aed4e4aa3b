import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import { notFound } from '../../src/errors.ts';
import type { Context } from '../context.ts';
import { builders } from './builder.reader.ts';

const BuilderPage = PageOf(Builder);

type Logo = Pick<Builder, 'logoKey' | 'logoUrl'>;

@Resolver(() => Builder)
export class BuilderResolver {
  @Query(() => BuilderPage, { description: 'The builders that the caller is authorised to access.' })
  @Rest('GET /builders', { scope: 'read:builders', tag: 'Builders' })
  builders(
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { caller, database }: Context,
  ): Promise<Page<Builder>> {
    return builders
      .reading(selection)
      .page(database, { reachable: caller.buildersWith('read:builders') }, windowOf(page));
  }

  @Query(() => Builder, { description: 'One builder.' })
  @Rest('GET /builders/{id}', { scope: 'read:builders', tag: 'Builders', params: { id: 'builderId' } })
  async builder(@Arg('builderId', () => BuilderId) builderId: string, @Ctx() { loaders }: Context): Promise<Builder> {
    const builder = await loaders.one(builders, builderId);
    if (!builder) throw notFound('Builder');
    return builder;
  }

  @FieldResolver()
  @Reads('logoKey', 'logoUrl')
  logoUrl(@Root() builder: Logo, @Ctx() context: Context): string | null {
    return logoUrlOf(builder, context);
  }
}

/** A signed URL when the logo stands in our own storage, else the stored address. Part 2 of the specification. */
export function logoUrlOf({ logoKey, logoUrl }: Logo, { storage }: Context): string | null {
  return logoKey ? storage.downloadUrl(logoKey) : logoUrl;
}
