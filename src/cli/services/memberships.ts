import type { EntityManager } from '@mikro-orm/postgresql';
import { Builder } from '../../../entities/builder.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { CliError } from '../cli-error.ts';
import { parseId, requireSingleLine } from './argument-parsers.ts';
import { type CommandContext, insertUnique, inTransaction, lockRow, requireRow } from './command-context.ts';
import { toUserFilter } from './users.ts';

export interface MembershipKey {
  /** Id or e-mail address. */
  user: string;
  builderId: string;
}

/** Adds a user to a builder's account. */
export async function addMembership(context: CommandContext, request: MembershipKey & { role: string }) {
  const role = requireSingleLine('--role', request.role, 60);
  return inTransaction(context, async (em, now) => {
    const { user, builder } = await requireUserAndBuilder(context, em, request);
    const row = { userId: user.id, builderId: builder.id, role, createdAt: now, updatedAt: now };
    const problem = `${user.email} is a member of ${builder.id} already`;
    await insertUnique(em, Membership, row, { option: '--user', problem });
    return { userId: user.id, email: user.email, builderId: builder.id, builderName: builder.name, role };
  });
}

/** Removes a user from a builder's account and revokes the tokens for that builder; a new membership does not restore them. */
export async function removeMembership(context: CommandContext, request: MembershipKey) {
  return inTransaction(context, async (em, now) => {
    const { user, builder } = await requireUserAndBuilder(context, em, request);
    const membership = await lockRow(em, Membership, { userId: user.id, builderId: builder.id });
    if (!membership) throw CliError.forOption('--user', `${user.email} is not a member of ${builder.id}`);
    em.remove(membership);
    await em.nativeUpdate(TokenFamily, { userId: user.id, builderId: builder.id, revokedAt: null }, { revokedAt: now });
    return {
      ...{ userId: user.id, email: user.email },
      ...{ builderId: builder.id, builderName: builder.name, role: membership.role },
    };
  });
}

async function requireUserAndBuilder(
  context: CommandContext,
  em: EntityManager,
  { user: who, builderId: id }: MembershipKey,
) {
  const where = toUserFilter('--user', who);
  parseId('--builder', 'builder', id);
  const user = await em.findOne(User, where);
  if (!user) throw CliError.forOption('--user', `there is no user ${who} in ${context.database.region}`);
  const builder = await requireRow(context, em, Builder, { option: '--builder', what: 'builder', id });
  return { user, builder };
}
