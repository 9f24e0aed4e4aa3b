import type { Command } from 'commander';
import { listMemberships, listUsers, showMembership, showUser } from '../../domain/access/list-access.ts';
import { addMembership, removeMembership, updateMembership } from '../../domain/access/memberships.ts';
import { grantSiteAccess, revokeSiteAccess } from '../../domain/access/site-access.ts';
import { disableUser, enableUser, updateUser } from '../../domain/access/users.ts';
import { createAddressChangeMessages } from '../../mail/account-change-message.ts';
import { toTerminalLine } from '../../shared/terminal-text.ts';
import { type CliIo, formatObject } from '../io/cli-io.ts';
import { sendMessages } from '../services/password-links.ts';
import {
  addCommandGroup,
  defineChangeCommand,
  defineListCommand,
  defineRegionalCommand,
  parseYesOrNo,
} from './define-command.ts';
import { addPictureCommand } from './storage.ts';
import { addPasswordLinkCommands, addUserCreateCommand } from './user-accounts.ts';

/** Adds the commands for users, memberships and site access. */
export function addPeopleCommands(program: Command, io: CliIo): void {
  addUserCommands(addCommandGroup(program, 'user', 'users who sign in and consent'), io);
  addMembershipCommands(addCommandGroup(program, 'membership', "users of a builder's account"), io);
  addSiteAccessCommands(addCommandGroup(program, 'site-access', 'which workers may enter which sites'), io);
}

function addUserCommands(parent: Command, io: CliIo): void {
  addUserCreateCommand(parent, io);
  addPasswordLinkCommands(parent, io);
  addUserReads(parent, io);

  const disable = parent.command('disable <user>').description('disable a user, by id or e-mail address');
  defineChangeCommand(
    io,
    disable,
    disableUser,
    (data) => `${data.email} (${data.userId}) ${data.changed ? 'is' : 'was already'} disabled.`,
  );

  const enable = parent.command('enable <user>').description('enable a disabled user again');
  defineChangeCommand(
    io,
    enable,
    enableUser,
    (data) => `${data.email} (${data.userId}) ${data.changed ? 'is' : 'was already'} enabled.`,
  );

  addPictureCommand(parent, io);
}

function addUserReads(parent: Command, io: CliIo): void {
  const list = parent
    .command('list')
    .description('list users')
    .option('--email <text>', 'part of the e-mail address')
    .option('--name <text>', 'part of the name')
    .option('--builder <id>', 'builder that the user is a member of')
    .option('--disabled <yes|no>', 'whether the user is disabled', parseYesOrNo)
    .option('--staff <yes|no>', 'whether the user is a staff user', parseYesOrNo)
    .option('--password <yes|no>', 'whether a password is set', parseYesOrNo);
  const columns = ['userId', 'email', 'name', 'staffRole', 'hasPassword', 'disabledAt'];
  defineListCommand(io, list, { name: 'users', columns }, (context, { builder, ...filter }, page) =>
    listUsers(context, { ...filter, builderId: builder }, page),
  );

  const show = parent.command('show <user>').description('show a user, by id or e-mail address, with the memberships');
  defineRegionalCommand(io, show, async (context, _options, user) => {
    const data = await showUser(context, user!);
    return { data, text: formatObject(data.name, data) };
  });

  const update = parent
    .command('update <user>')
    .description('replace the properties that are given')
    .option('--name <name>', 'full name')
    .option('--email <address>', 'e-mail address to sign in with')
    .option('--role <role>', 'role of a staff user: VIEWER, OPERATOR or ADMIN');
  defineRegionalCommand(io, update, async (context, { name, email, role }, user) => {
    const { previousEmail, ...data } = await updateUser(context, user!, { name, email, staffRole: role });
    await sendMessages(io, createAddressChangeMessages({ ...data, previousEmail }));
    return { data, text: formatObject(`${data.email} is ${data.changed ? 'updated' : 'unchanged'}.`, data) };
  });
}

const requireMembershipKey = (command: Command) =>
  command.requiredOption('--user <user>', 'id or e-mail address').requiredOption('--builder <id>', 'builder');

function addMembershipReads(parent: Command, io: CliIo): void {
  const list = parent
    .command('list')
    .description('list memberships')
    .option('--user <user>', 'id or e-mail address')
    .option('--builder <id>', 'builder')
    .option('--role <role>', 'role of the user');
  const columns = ['userId', 'builderId', 'role', 'createdAt'];
  defineListCommand(io, list, { name: 'memberships', columns }, (context, { user, builder, role }, page) =>
    listMemberships(context, { user, builderId: builder, role }, page),
  );

  const show = requireMembershipKey(parent.command('show').description('show a membership'));
  defineRegionalCommand(io, show, async (context, { user, builder }) => {
    const data = await showMembership(context, { user, builderId: builder });
    return { data, text: formatObject(`${user} and ${builder}`, data) };
  });

  const update = requireMembershipKey(parent.command('update').description("change a user's role")).requiredOption(
    '--role <role>',
    "role of the user, in the builder's own words",
  );
  defineRegionalCommand(io, update, async (context, { user, builder, role }) => {
    const data = await updateMembership(context, { user, builderId: builder, role });
    const state = data.changed ? 'is now' : 'was already';
    return { data, text: `${data.email} ${state} ${data.role} of ${toTerminalLine(data.builderName)} (${builder}).` };
  });
}

function addMembershipCommands(parent: Command, io: CliIo): void {
  addMembershipReads(parent, io);
  const add = requireMembershipKey(parent.command('add').description("add a user to a builder's account")).option(
    '--role <role>',
    "role of the user, in the builder's own words",
    'MEMBER',
  );
  defineRegionalCommand(io, add, async (context, { user, builder, role }) => {
    const data = await addMembership(context, { user, builderId: builder, role });
    return {
      data,
      text: `${data.email} is a member of ${toTerminalLine(data.builderName)} (${builder}) as ${data.role}.`,
    };
  });

  const remove = requireMembershipKey(
    parent
      .command('remove')
      .description("remove a user from a builder's account and revoke the tokens for that builder"),
  );
  defineRegionalCommand(io, remove, async (context, { user, builder }) => {
    const data = await removeMembership(context, { user, builderId: builder });
    return { data, text: `${data.email} is no longer a member of ${toTerminalLine(data.builderName)} (${builder}).` };
  });
}

function addSiteAccessCommands(parent: Command, io: CliIo): void {
  const addWorkerAndProjectOptions = (command: Command) =>
    command.requiredOption('--worker <id>', 'worker').requiredOption('--project <id>', 'project of the same builder');

  const grant = addWorkerAndProjectOptions(
    parent.command('grant').description("allow a worker to enter a project's site"),
  );
  defineRegionalCommand(io, grant, async (context, { worker, project }) => {
    const data = await grantSiteAccess(context, { workerId: worker, projectId: project });
    return { data, text: `${worker} ${data.changed ? 'may' : 'could already'} enter ${project}.` };
  });

  const revoke = addWorkerAndProjectOptions(
    parent.command('revoke').description("revoke a worker's access; the grant stays on record"),
  );
  defineRegionalCommand(io, revoke, async (context, { worker, project }) => {
    const data = await revokeSiteAccess(context, { workerId: worker, projectId: project });
    return { data, text: `The access of ${worker} to ${project} ${data.changed ? 'is' : 'was already'} revoked.` };
  });
}
