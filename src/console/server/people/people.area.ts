import { findSelection } from '../../../../schema/selection.ts';
import { findMembershipsOf } from '../../../domain/access/batched-access.ts';
import { listUsers, showUser } from '../../../domain/access/list-access.ts';
import { addMembership, removeMembership, updateMembership } from '../../../domain/access/memberships.ts';
import {
  deletePasswordLink,
  inviteUser,
  type NewPasswordLink,
  resetPassword,
} from '../../../domain/access/password-links.ts';
import type { StaffAction } from '../../../domain/access/staff-roles.ts';
import { createUser, disableUser, enableUser, updateUser } from '../../../domain/access/users.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../../domain/audit/audit-actions.ts';
import { findIds, findRecordNames, isPersonId } from '../../../domain/audit/find-record-names.ts';
import { type AuditFilter, listAuditEntries } from '../../../domain/audit/list-audit-entries.ts';
import { inTransaction } from '../../../domain/change-context.ts';
import { builders } from '../../../domain/readers/builder.reader.ts';
import { createAddressChangeMessages } from '../../../mail/messages.ts';
import { invalidField } from '../../../shared/errors.ts';
import { type ConsoleArea, type ConsoleContext, changeOperation, listOperation } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';
import { type PageArgs, toLimit, toPage, withoutNull } from '../page.ts';
import { peopleTypes } from './people.schema.ts';

type ListedUser = Awaited<ReturnType<typeof listUsers>>['users'][number];

/** Notes that the staff user reads the person's data. */
function toConsoleUser<T extends ListedUser>({ personalReads }: ConsoleContext, user: T) {
  personalReads.add(user.userId, 'User', null);
  return { ...user, id: user.userId };
}

const findUser = async (context: ConsoleContext, who: string) => toConsoleUser(context, await showUser(context, who));

/** Returns the user that a mutation is about. */
const showUserOf = (context: ConsoleContext, { id, userId = id }: Record<string, string>) => findUser(context, userId!);

/** Returns a change of a user. A message of why it is refused says something about the user, or about that of an address, who is read too. */
const onUser: typeof changeOperation = (action, apply, show) =>
  changeOperation(
    action,
    (change, args, context) =>
      apply(change, args, context).catch(async (error) => {
        for (const who of [args.id, args.userId, args.email])
          if (who) await findUser(context, who).catch(() => undefined);
        throw error;
      }),
    show,
  );

/** Returns a change of a membership. */
const onMembership = (action: StaffAction, apply: typeof addMembership | typeof removeMembership) =>
  onUser(action, (change, { userId: user, ...membership }) => apply(change, { user, ...membership }), showUserOf);

/** Sends the link, or returns its URL without a mail server. A link that is not sent is deleted: the person is invited again. */
async function sendLink(context: ConsoleContext, _: unknown, link: NewPasswordLink) {
  const { path, userId, expiresAt, ...person } = link;
  const { emails, send, toUrl } = context.passwordLinks;
  const emailed = emails && (await send({ ...person, path }));
  if (emails && !emailed) await deletePasswordLink(context, link);
  return { user: await findUser(context, userId), url: emails ? null : toUrl(path), emailed, expiresAt };
}

const linkOperation = (create: typeof inviteUser) =>
  onUser(
    'password_link.created',
    (change, { id }, { passwordLinks }) => create(change, id, passwordLinks.emails),
    sendLink,
  );

async function listAudit(context: ConsoleContext, filter: AuditFilter, { limit, cursor }: PageArgs) {
  const found = await listAuditEntries(context.database, filter, { limit, cursor: cursor ?? null });
  if (!found) throw invalidField('after', 'must be the nextCursor of a page');
  const names = await findRecordNames(context.database, findIds(found.entries));
  // Entries contain data of the users who acted and of the people concerned. Reads of one's own data are not recorded.
  const people = [...[...names.keys()].filter(isPersonId), ...found.entries.map(({ personId }) => personId)];
  for (const id of people)
    if (id !== null && id !== context.staff.id) context.personalReads.add(id, 'AuditEntry', null);
  const entries = found.entries.map((entry) => ({
    ...entry,
    records: found.readCounts.get(entry.id) ?? 1,
    names: Object.fromEntries(findIds(entry).map((id) => [id, names.get(id)])),
    description: AUDIT_ACTIONS[entry.action as AuditAction] ?? entry.action,
    before: entry.valuesBefore,
    after: entry.valuesAfter,
  }));
  return toPage(entries, found.nextCursor);
}

/** Users and the audit log. */
export const peopleArea: ConsoleArea = {
  types: peopleTypes,
  pages: ['User', 'AuditEntry'],
  queries: {
    people: listOperation('person.read', async (context, { hasPassword, ...filter }, page) => {
      const { users, nextCursor } = await listUsers(context, { ...filter, password: hasPassword }, page);
      const people = users.map((user) => toConsoleUser(context, user));
      const { builderId } = filter;
      // Each is a member of the builder.
      if (builderId) for (const { id } of people) context.personalReads.add(id, 'Membership', builderId);
      return toPage(people, nextCursor);
    }),
    person: { action: 'person.read', resolve: (_, { user }, context) => findUser(context, user) },
    audit: listOperation('audit.read', listAudit),
    auditActions: {
      action: 'audit.read',
      maxRecords: Object.keys(AUDIT_ACTIONS).length,
      resolve: () => Object.entries(AUDIT_ACTIONS).map(([action, description]) => ({ action, description })),
    },
  },
  mutations: {
    createUser: onUser(
      'user.created',
      (change, { email, name, staffRole, builderId, role }, { passwordLinks }) => {
        if (staffRole && builderId) throw invalidField('builderId', 'a staff user is a member of no builder');
        return inTransaction(change, async (em) => {
          const part = { ...change, em };
          const user = { email, name, password: null, staffRole: staffRole ?? undefined };
          const { userId } = await createUser(part, user);
          if (builderId) await addMembership(part, { user: userId, builderId, role: role ?? 'MEMBER' });
          return inviteUser(part, userId, passwordLinks.emails);
        });
      },
      sendLink,
    ),
    inviteUser: linkOperation(inviteUser),
    resetPassword: linkOperation(resetPassword),
    updateUser: onUser(
      'user.updated',
      async (change, { id, ...update }, { passwordLinks }) => {
        const updated = await updateUser(change, id, withoutNull(update));
        createAddressChangeMessages(updated).forEach(passwordLinks.notify);
      },
      showUserOf,
    ),
    disableUser: onUser('user.disabled', (change, { id }) => disableUser(change, id), showUserOf),
    enableUser: onUser('user.enabled', (change, { id }) => enableUser(change, id), showUserOf),
    addMembership: onMembership('membership.created', addMembership),
    updateMembership: onMembership('membership.updated', updateMembership),
    removeMembership: onMembership('membership.deleted', removeMembership),
  },
  fields: {
    User: {
      memberships: async ({ userId }: ListedUser, args, context) => {
        const limit = toLimit(args.limit);
        const memberships = await loadBatched(context, `memberships ${limit}`, userId, (database, ids) =>
          findMembershipsOf(database, ids, limit),
        );
        for (const { builderId } of memberships!) context.personalReads.add(userId, 'Membership', builderId);
        return memberships;
      },
    },
    Membership: {
      builder: ({ builderId }: { builderId: string }, _, context, info) =>
        context.loaders.load(builders.select(findSelection(info)), builderId),
    },
  },
};
