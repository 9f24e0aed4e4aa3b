import type { EntityManager } from '@mikro-orm/postgresql';
import { Builder } from '../../../entities/builder.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { type ChangeContext, changeRow, insertUnique, inTransaction, lockRow, requireRow } from '../change-context.ts';
import { requireSingleLine } from './access-values.ts';
import { InvalidInputError } from './invalid-input-error.ts';
import { requireUser } from './users.ts';

interface MembershipKey {
  /** Id or e-mail address. */
  user: string;
  builderId: string;
}

const parseRole = (role: string) => requireSingleLine('role', role, 60);

/** Adds a user to a builder's account. */
export async function addMembership(context: ChangeContext, request: MembershipKey & { role: string }) {
  const role = parseRole(request.role);
  return inTransaction(context, async (em, now, record) => {
    const who = request.user;
    const user = await requireUser(context, em, who);
    const builder = await requireRow(context, em, Builder, 'builder', request.builderId);
    if (user.staffRole !== null) throw new InvalidInputError('user', `${who} is a staff user`);
    const row = { userId: user.id, builderId: builder.id, role };
    const conflict = new InvalidInputError('user', `${who} is a member of ${builder.id} already`);
    await insertUnique(em, Membership, { ...row, createdAt: now, updatedAt: now }, conflict);
    await record({ ...toSubject(row), action: 'membership.created', after: row });
    return { userId: user.id, email: user.email, builderId: builder.id, builderName: builder.name, role };
  });
}

/** Changes a user's role in a builder's account. */
export async function updateMembership(context: ChangeContext, request: MembershipKey & { role: string }) {
  const role = parseRole(request.role);
  return inTransaction(context, async (em, now, record) => {
    const { user, builder, membership } = await lockMembership(context, em, request);
    const change = { ...toSubject(membership), action: 'membership.updated' as const };
    const changed = await changeRow(membership, { role }, now, record, change);
    return { userId: user.id, email: user.email, builderId: builder.id, builderName: builder.name, role, changed };
  });
}

/** Removes a user from a builder's account and revokes the tokens for that builder; a new membership does not restore them. */
export async function removeMembership(context: ChangeContext, request: MembershipKey) {
  return inTransaction(context, async (em, now, record) => {
    const { user, builder, membership } = await lockMembership(context, em, request);
    const { userId, builderId, role } = membership;
    em.remove(membership);
    const families = { userId, builderId, revokedAt: null };
    const revokedConsents = await em.nativeUpdate(TokenFamily, families, { revokedAt: now });
    const before = { userId, builderId, role, revokedConsents };
    await record({ ...toSubject(membership), action: 'membership.deleted', before });
    return { userId, email: user.email, builderId, builderName: builder.name, role };
  });
}

async function lockMembership(context: ChangeContext, em: EntityManager, key: MembershipKey) {
  const user = await requireUser(context, em, key.user);
  const builder = await requireRow(context, em, Builder, 'builder', key.builderId);
  const membership = await lockRow(em, Membership, { userId: user.id, builderId: builder.id });
  if (!membership) throw new InvalidInputError('user', `${key.user} is not a member of ${builder.id}`);
  return { user, builder, membership };
}

/** Returns what the audit log records a change of the membership about. */
const toSubject = ({ userId, builderId }: Pick<Membership, 'userId' | 'builderId'>) => ({
  objectId: `${userId}/${builderId}`,
  builderId,
  personId: userId,
});
