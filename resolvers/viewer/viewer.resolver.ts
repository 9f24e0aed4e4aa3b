import { Ctx, Query, Resolver } from 'type-graphql';
import { Rest } from '../../schema/rest.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { memberships, users } from '../../src/domain/readers/viewer.reader.ts';
import { notFound } from '../../src/shared/errors.ts';
import { createLogoUrl } from '../builder/builder.resolver.ts';
import { Identity, type IdentityMembership } from './identity.type.ts';

@Resolver()
export class ViewerResolver {
  @Query(() => Identity, {
    description: 'The authenticated caller and the builders that the access token gives access to.',
  })
  @Rest('GET /me', { scope: null, tag: 'Identity' })
  async me(@Ctx() context: RequestContext): Promise<Identity> {
    const { clientId, clientName, userId, scopes } = context.caller;
    const shared = { clientId, scopes: [...scopes], regionId: context.region };
    if (userId === null) {
      const client = { type: 'client', id: clientId, name: clientName, email: null, profilePictureUrl: null } as const;
      return { ...client, ...shared, memberships: await readMemberships(context) };
    }
    const [user, roles, builders] = await Promise.all([
      users.findOne(context.database, userId),
      memberships.findAll(context.database, { userId }),
      readMemberships(context),
    ]);
    if (!user) throw notFound('User');
    const roleIn = new Map(roles.map(({ builderId, role }) => [builderId, role]));
    return {
      type: 'user',
      id: user.id,
      name: user.name,
      email: user.email,
      profilePictureUrl: user.pictureKey ? context.storage.createDownloadUrl(user.pictureKey) : null,
      ...shared,
      memberships: builders.map((builder) => ({ ...builder, role: roleIn.get(builder.builderId) ?? null })),
    };
  }
}

/** Returns the builders connected to the caller; none for an internal client, which has access to all without connections. */
async function readMemberships(context: RequestContext): Promise<IdentityMembership[]> {
  const { caller, database } = context;
  const connected = await builders.findAll(database, { reachable: [...caller.connections.keys()] });
  return connected.map((builder) => ({
    builderId: builder.id,
    builderName: builder.name,
    builderLogoUrl: createLogoUrl(builder, context),
    role: null,
  }));
}
