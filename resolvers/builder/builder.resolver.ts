import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { OmittedWhenNull, Rest } from '../../schema/rest.ts';
import { BuilderId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import { getTimeZone } from '../../schema/time-zone.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { requireFound } from '../../src/domain/require-found.ts';

const BuilderPage = createPageType(Builder);

type Logo = Pick<Builder, 'logoKey'>;

@Resolver(() => Builder)
export class BuilderResolver {
  @Query(() => BuilderPage, { description: 'The builders that the caller is authorised to access.' })
  @Rest('GET /builders', { scope: 'read:builders', tag: 'Builders' })
  builders(
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { caller, database }: RequestContext,
  ): Promise<Page<Builder>> {
    return builders.select(selection).findPage(database, { reachable: caller.listBuilderIds('read:builders') }, page);
  }

  @Query(() => Builder, { description: 'One builder.' })
  @Rest('GET /builders/{id}', { scope: 'read:builders', tag: 'Builders', params: { id: 'builderId' } })
  builder(@Arg('builderId', () => BuilderId) builderId: string, @Ctx() { loaders }: RequestContext): Promise<Builder> {
    return requireFound(loaders.load(builders, builderId), 'Builder');
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'Signed URL of the company logo; left out when no logo is configured.',
  })
  @OmittedWhenNull()
  @Reads('logoKey')
  logoUrl(@Root() builder: Logo, @Ctx() context: RequestContext): string | null {
    return createLogoUrl(builder, context);
  }

  @FieldResolver()
  @Reads('timeZone')
  timeZone(@Root() builder: Pick<Builder, 'timeZone'>, @Ctx() { region }: RequestContext): string {
    return getTimeZone(builder, region);
  }
}

/** Returns a signed URL of the logo in the storage, or null. */
export function createLogoUrl({ logoKey }: Logo, { storage }: RequestContext): string | null {
  return logoKey ? storage.createDownloadUrl(logoKey) : null;
}
