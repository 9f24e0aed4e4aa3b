import type { Command } from 'commander';
import { type CliIo, formatFields } from '../io/cli-io.ts';
import { readPassword } from '../io/read-password.ts';
import { addMembership, removeMembership } from '../services/memberships.ts';
import { grantSiteAccess, revokeSiteAccess } from '../services/site-access.ts';
import { createUser, disableUser, enableUser, generatePassword } from '../services/users.ts';
import { addCommandGroup, defineRegionalCommand } from './define-command.ts';
import { addPictureCommand } from './storage.ts';

/** Adds the commands for users, memberships and site access. */
export function addPeopleCommands(program: Command, io: CliIo): void {
  addUserCommands(addCommandGroup(program, 'user', 'users who sign in and consent'), io);
  addMembershipCommands(addCommandGroup(program, 'membership', "users of a builder's account"), io);
  addSiteAccessCommands(addCommandGroup(program, 'site-access', 'which workers may enter which sites'), io);
}

function addUserCommands(parent: Command, io: CliIo): void {
  const create = parent
    .command('create')
    .description('register a user; prompts for the password unless an option provides it')
    .requiredOption('--email <address>', 'e-mail address to sign in with')
    .requiredOption('--name <name>', 'full name')
    .option('--password-stdin', 'read the password from stdin')
    .option('--generate-password', 'generate a password and print it once');
  defineRegionalCommand(io, create, async (context, options) => {
    const generated = options.generatePassword ? generatePassword() : null;
    const password = generated ?? (await readPassword(io, options));
    const user = await createUser(context, { email: options.email, name: options.name, password });
    const { userId, email, name } = user;
    const heading = `User registered.${generated ? ' This password is not shown again.' : ''}`;
    return {
      data: { ...user, password: generated },
      text: formatFields(heading, { userId, email, name, password: generated }),
    };
  });

  const disable = parent.command('disable <user>').description('disable a user, by id or e-mail address');
  defineRegionalCommand(io, disable, async (context, _options, user) => {
    const data = await disableUser(context, user!);
    return { data, text: `${data.email} (${data.userId}) ${data.changed ? 'is' : 'was already'} disabled.` };
  });

  const enable = parent.command('enable <user>').description('enable a disabled user again');
  defineRegionalCommand(io, enable, async (context, _options, user) => {
    const data = await enableUser(context, user!);
    return { data, text: `${data.email} (${data.userId}) ${data.changed ? 'is' : 'was already'} enabled.` };
  });

  addPictureCommand(parent, io);
}

function addMembershipCommands(parent: Command, io: CliIo): void {
  const add = parent
    .command('add')
    .description("add a user to a builder's account")
    .requiredOption('--user <user>', 'id or e-mail address')
    .requiredOption('--builder <id>', 'builder')
    .option('--role <role>', "role of the user, in the builder's own words", 'MEMBER');
  defineRegionalCommand(io, add, async (context, { user, builder, role }) => {
    const data = await addMembership(context, { user, builderId: builder, role });
    return { data, text: `${data.email} is a member of ${data.builderName} (${builder}) as ${data.role}.` };
  });

  const remove = parent
    .command('remove')
    .description("remove a user from a builder's account and revoke the tokens for that builder")
    .requiredOption('--user <user>', 'id or e-mail address')
    .requiredOption('--builder <id>', 'builder');
  defineRegionalCommand(io, remove, async (context, { user, builder }) => {
    const data = await removeMembership(context, { user, builderId: builder });
    return { data, text: `${data.email} is no longer a member of ${data.builderName} (${builder}).` };
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
