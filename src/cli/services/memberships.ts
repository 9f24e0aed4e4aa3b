import type { EntityManager } from '@mikro-orm/postgresql';
import { Builder } from '../../../entities/builder.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { refuse } from '../cli-error.ts';
import { identifier, oneLine } from './checks.ts';
import { existing, insertOnce, inTransaction, lockRow, type Place } from './command-context.ts';
import { whereUser } from './users.ts';

export interface MembershipKey {
  /** Id or e-mail address. */
  user: string;
  builderId: string;
}

/** Gives a user a place in a builder's account. */
export async function addMembership(place: Place, request: MembershipKey & { role: string }) {
  const role = oneLine('--role', request.role, 60);
  return inTransaction(place, async (em, now) => {
    const { user, builder } = await findBoth(place, em, request);
    const row = { userId: user.id, builderId: builder.id, role, createdAt: now, updatedAt: now };
    const problem = `${user.email} is a member of ${builder.id} already`;
    await insertOnce(em, Membership, row, { option: '--user', problem });
    return { userId: user.id, email: user.email, builderId: builder.id, builderName: builder.name, role };
  });
}

/** Takes a user out of a builder's account. Tokens for that builder end with it, and stay so should the user come back. */
export async function removeMembership(place: Place, request: MembershipKey) {
  return inTransaction(place, async (em, now) => {
    const { user, builder } = await findBoth(place, em, request);
    const membership = await lockRow(em, Membership, { userId: user.id, builderId: builder.id });
    if (!membership) return refuse('--user', `${user.email} is not a member of ${builder.id}`);
    em.remove(membership);
    await em.nativeUpdate(TokenFamily, { userId: user.id, builderId: builder.id, revokedAt: null }, { revokedAt: now });
    return {
      ...{ userId: user.id, email: user.email },
      ...{ builderId: builder.id, builderName: builder.name, role: membership.role },
    };
  });
}

async function findBoth(place: Place, em: EntityManager, { user: who, builderId: id }: MembershipKey) {
  const where = whereUser('--user', who);
  identifier('--builder', 'builder', id);
  const user = await em.findOne(User, where);
  if (!user) return refuse('--user', `there is no user ${who} in ${place.database.region}`);
  const builder = await existing(place, em, Builder, { option: '--builder', what: 'builder', id });
  return { user, builder };
}
