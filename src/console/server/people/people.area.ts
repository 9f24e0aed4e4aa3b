import { OAuthClient } from '../../../../entities/oauth-client.entity.ts';
import { User } from '../../../../entities/user.entity.ts';
import { findSelection } from '../../../../schema/selection.ts';
import { findMembershipsOf } from '../../../domain/access/access-of-parents.ts';
import { listUsers, showUser } from '../../../domain/access/list-access.ts';
import { addMembership, removeMembership } from '../../../domain/access/memberships.ts';
import {
  deletePasswordLink,
  inviteUser,
  type NewPasswordLink,
  resetPassword,
} from '../../../domain/access/password-links.ts';
import { createUser, disableUser, enableUser, updateUser } from '../../../domain/access/users.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../../domain/audit/audited-objects.ts';
import { type AuditFilter, listAuditEntries } from '../../../domain/audit/list-audit-entries.ts';
import { inTransaction } from '../../../domain/change-context.ts';
import { builders } from '../../../domain/readers/builder.reader.ts';
import { createAddressChangeMessages } from '../../../mail/account-change-message.ts';
import { invalidField } from '../../../shared/errors.ts';
import { type ConsoleArea, type ConsoleContext, toChangeContext } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';
import { toLimit, toPage, toPageArgs, withoutNull } from '../page.ts';
import { peopleTypes } from './people.schema.ts';

type ListedUser = Awaited<ReturnType<typeof listUsers>>['users'][number];

/** Notes that the staff user reads the person's data. */
function toConsoleUser<T extends ListedUser>({ personalReads }: ConsoleContext, user: T) {
  personalReads.add(user.userId, 'User', null);
  return { ...user, id: user.userId };
}

const findUser = async (context: ConsoleContext, who: string) => toConsoleUser(context, await showUser(context, who));

/** Sends the link, or returns its URL without a mail server. A link that is not sent is deleted: the person is invited again. */
async function sendLink(context: ConsoleContext, link: NewPasswordLink) {
  const { path, userId, expiresAt, ...person } = link;
  const { emails, send, toUrl } = context.passwordLinks;
  const emailed = emails && (await send({ ...person, path }));
  if (emails && !emailed) await deletePasswordLink(toChangeContext(context), link);
  return { user: await findUser(context, userId), url: emails ? null : toUrl(path), emailed, expiresAt };
}

async function listAudit(context: ConsoleContext, { after, limit, ...filter }: Record<string, unknown>) {
  const { limit: rows, cursor } = toPageArgs({ after, limit } as { after?: string; limit?: number });
  const page = { limit: rows, cursor: cursor ?? null };
  const found = await listAuditEntries(context.database, withoutNull(filter) as AuditFilter, page);
  if (!found) throw invalidField('after', 'must be the nextCursor of a page');
  const actorIds = new Set(found.entries.map(({ actorId }) => actorId).filter((id) => id !== null));
  const em = context.database.fork();
  const where = { id: { $in: [...actorIds] } };
  const users = await em.find(User, where, { fields: ['id', 'name'] });
  const clients = await em.find(OAuthClient, where, { fields: ['id', 'name'] });
  const names = new Map([...users, ...clients].map(({ id, name }) => [id, name]));
  // Entries contain data of the users who acted and of the people concerned. Reads of one's own data are not recorded.
  const personIds = [...users.map(({ id }) => id), ...found.entries.map(({ personId }) => personId)];
  for (const id of personIds) {
    if (id !== null && id !== context.staff.id) context.personalReads.add(id, 'AuditEntry', null);
  }
  const entries = found.entries.map((entry) => ({
    ...entry,
    actorName: entry.actorId === null ? null : (names.get(entry.actorId) ?? null),
    description: AUDIT_ACTIONS[entry.action as AuditAction] ?? entry.action,
    before: entry.valuesBefore,
    after: entry.valuesAfter,
  }));
  return toPage(entries, found.nextCursor);
}

/** Users and the audit log. */
export const peopleArea: ConsoleArea = {
  types: peopleTypes,
  queries: {
    people: {
      action: 'person.read',
      async resolve(_, { hasPassword, after, limit, ...filter }, context) {
        const conditions = withoutNull({ ...filter, password: hasPassword });
        const { users, nextCursor } = await listUsers(context, conditions, toPageArgs({ after, limit }));
        return toPage(
          users.map((user) => toConsoleUser(context, user)),
          nextCursor,
        );
      },
    },
    person: { action: 'person.read', resolve: (_, { user }, context) => findUser(context, user) },
    audit: { action: 'audit.read', resolve: (_, args, context) => listAudit(context, args) },
    auditActions: {
      action: 'audit.read',
      maxRecords: Object.keys(AUDIT_ACTIONS).length,
      resolve: () => Object.entries(AUDIT_ACTIONS).map(([action, description]) => ({ action, description })),
    },
  },
  mutations: {
    createUser: {
      action: 'user.created',
      async resolve(_, { email, name, staffRole, builderId, role }, context) {
        if (staffRole && builderId) throw invalidField('builderId', 'a staff user is a member of no builder');
        const link = await inTransaction(toChangeContext(context), async (em) => {
          const change = { ...toChangeContext(context), em };
          const user = { email, name, password: null, staffRole: staffRole ?? undefined };
          const { userId } = await createUser(change, user);
          if (builderId) await addMembership(change, { user: userId, builderId, role: role ?? 'MEMBER' });
          return inviteUser(change, userId, context.passwordLinks.emails);
        });
        return sendLink(context, link);
      },
    },
    inviteUser: {
      action: 'password_link.created',
      resolve: async (_, { id }, context) =>
        sendLink(context, await inviteUser(toChangeContext(context), id, context.passwordLinks.emails)),
    },
    resetPassword: {
      action: 'password_link.created',
      resolve: async (_, { id }, context) =>
        sendLink(context, await resetPassword(toChangeContext(context), id, context.passwordLinks.emails)),
    },
    updateUser: {
      action: 'user.updated',
      async resolve(_, { id, expectedUpdatedAt, ...update }, context) {
        const updated = await updateUser(toChangeContext(context, { expectedUpdatedAt }), id, withoutNull(update));
        createAddressChangeMessages(updated).forEach(context.passwordLinks.notify);
        return findUser(context, id);
      },
    },
    disableUser: {
      action: 'user.disabled',
      async resolve(_, { id, ...args }, context) {
        await disableUser(toChangeContext(context, args), id);
        return findUser(context, id);
      },
    },
    enableUser: {
      action: 'user.enabled',
      async resolve(_, { id, ...args }, context) {
        await enableUser(toChangeContext(context, args), id);
        return findUser(context, id);
      },
    },
    addMembership: {
      action: 'membership.created',
      async resolve(_, { userId, builderId, role }, context) {
        await addMembership(toChangeContext(context), { user: userId, builderId, role });
        return findUser(context, userId);
      },
    },
    removeMembership: {
      action: 'membership.deleted',
      async resolve(_, { userId, builderId }, context) {
        await removeMembership(toChangeContext(context), { user: userId, builderId });
        return findUser(context, userId);
      },
    },
  },
  fields: {
    User: {
      memberships: ({ userId }: ListedUser, args, context) => {
        const limit = toLimit(args.limit);
        return loadBatched(context, `memberships ${limit}`, userId, (database, ids) =>
          findMembershipsOf(database, ids, limit),
        );
      },
    },
    Membership: {
      builder: ({ builderId }: { builderId: string }, _, context, info) =>
        context.loaders.load(builders.select(findSelection(info)), builderId),
    },
  },
};
