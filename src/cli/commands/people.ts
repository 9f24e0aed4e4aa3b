import { listMemberships, listUsers, showMembership, showUser } from '../../domain/access/list-access.ts';
import { addMembership, removeMembership, updateMembership } from '../../domain/access/memberships.ts';
import { grantSiteAccess, revokeSiteAccess } from '../../domain/access/site-access.ts';
import { disableUser, enableUser, updateUser } from '../../domain/access/users.ts';
import { createAddressChangeMessages } from '../../mail/messages.ts';
import { toTerminalLine } from '../../shared/terminal-text.ts';
import { formatFields } from '../io/cli-io.ts';
import { sendMessages } from '../services/password-links.ts';
import { type CommandGroup, isOrWasAlready, option, required, yesOrNo } from './command-group.ts';
import { addPictureCommand } from './storage.ts';
import { addPasswordLinkCommands, addUserCreateCommand } from './user-accounts.ts';

/** Adds the commands for users, memberships and site access. */
export function addPeopleCommands(program: CommandGroup): void {
  addUserCommands(program.addGroup('user', 'users who sign in and consent'));
  addMembershipCommands(program.addGroup('membership', "users of a builder's account"));
  addSiteAccessCommands(program.addGroup('site-access', 'which workers may enter which sites'));
}

function addUserCommands(group: CommandGroup): void {
  addUserCreateCommand(group);
  addPasswordLinkCommands(group);

  const columns = ['userId', 'email', 'name', 'staffRole', 'hasPassword', 'disabledAt'];
  const filters = [
    option('--email <text>', 'part of the e-mail address'),
    option('--name <text>', 'part of the name'),
    option('--builder <id>', 'builder that the user is a member of'),
    yesOrNo('--disabled', 'whether the user is disabled'),
    yesOrNo('--staff', 'whether the user is a staff user'),
    yesOrNo('--password', 'whether a password is set'),
  ];
  group.addList('list users', { name: 'users', columns }, filters, listUsers);

  const show = 'show a user, by id or e-mail address, with the memberships';
  group.addShow('show <user>', show, [], showUser, (data) => data.name);

  const replaced = [
    option('--name <name>', 'full name'),
    option('--email <address>', 'e-mail address to sign in with'),
    option('--role <role>', 'role of a staff user: VIEWER, OPERATOR or ADMIN'),
  ];
  const replace = 'replace the properties that are given';
  group.addRegional('update <user>', replace, replaced, async (context, { name, email, role }, user) => {
    const { previousEmail, ...data } = await updateUser(context, user!, { name, email, staffRole: role });
    await sendMessages(group.io, createAddressChangeMessages({ ...data, previousEmail }));
    return { data, text: formatFields(`${data.email} is ${data.changed ? 'updated' : 'unchanged'}.`, data) };
  });

  const describe = (state: string) => (data: { email: string; userId: string; changed: boolean }) =>
    `${data.email} (${data.userId}) ${isOrWasAlready(data)} ${state}.`;
  group.addChange('disable <user>', 'disable a user, by id or e-mail address', [], disableUser, describe('disabled'));
  group.addChange('enable <user>', 'enable a disabled user again', [], enableUser, describe('enabled'));

  addPictureCommand(group);
}

function addMembershipCommands(group: CommandGroup): void {
  const key = () => [required('--user <user>', 'id or e-mail address'), required('--builder <id>', 'builder')];
  const role = ['--role <role>', "role of the user, in the builder's own words"] as const;
  const filters = [
    option('--user <user>', 'id or e-mail address'),
    option('--builder <id>', 'builder'),
    option('--role <role>', 'role of the user'),
  ];
  const columns = ['userId', 'builderId', 'role', 'createdAt'];
  group.addList('list memberships', { name: 'memberships', columns }, filters, listMemberships);

  const heading = (_data: object, { user, builder }: Record<string, string>) => `${user} and ${builder}`;
  group.addShow('show', 'show a membership', key(), showMembership, heading);

  const describeBuilder = ({ builderName, builderId }: { builderName: string; builderId: string }) =>
    `${toTerminalLine(builderName)} (${builderId})`;
  const changed = [...key(), required(...role)];
  group.addChange('update', "change a user's role", changed, updateMembership, (data) => {
    const state = data.changed ? 'is now' : 'was already';
    return `${data.email} ${state} ${data.role} of ${describeBuilder(data)}.`;
  });

  const added = [...key(), option(...role).default('MEMBER')];
  group.addChange('add', "add a user to a builder's account", added, addMembership, (data) => {
    return `${data.email} is a member of ${describeBuilder(data)} as ${data.role}.`;
  });

  const remove = "remove a user from a builder's account and revoke the tokens for that builder";
  group.addChange('remove', remove, key(), removeMembership, (data) => {
    return `${data.email} is no longer a member of ${describeBuilder(data)}.`;
  });
}

function addSiteAccessCommands(group: CommandGroup): void {
  const key = () => [required('--worker <id>', 'worker'), required('--project <id>', 'project of the same builder')];
  const grant = "allow a worker to enter a project's site";
  group.addChange('grant', grant, key(), grantSiteAccess, ({ changed }, { worker, project }) => {
    return `${worker} ${changed ? 'may' : 'could already'} enter ${project}.`;
  });

  const revoke = "revoke a worker's access; the grant stays on record";
  group.addChange('revoke', revoke, key(), revokeSiteAccess, (data, { worker, project }) => {
    return `The access of ${worker} to ${project} ${isOrWasAlready(data)} revoked.`;
  });
}
