import type { Command } from 'commander';
import { listing, type Shell } from '../io/cli-io.ts';
import { readPassword } from '../io/read-password.ts';
import { addMembership, removeMembership } from '../services/memberships.ts';
import { grantSiteAccess, revokeSiteAccess } from '../services/site-access.ts';
import { createUser, disableUser, enableUser, generatePassword } from '../services/users.ts';
import { group, regionalCommand } from './define.ts';
import { addPictureCommand } from './storage.ts';

/** Who signs in, for which builders, and who may enter which site. */
export function addPeopleCommands(program: Command, shell: Shell): void {
  userCommands(group(program, 'user', 'people who sign in to consent'), shell);
  membershipCommands(group(program, 'membership', "a user's place in a builder's account"), shell);
  siteAccessCommands(group(program, 'site-access', 'which workers may enter which sites'), shell);
}

function userCommands(parent: Command, shell: Shell): void {
  const create = parent
    .command('create')
    .description('register a person; asks for the password unless told where it comes from')
    .requiredOption('--email <address>', 'e-mail address to sign in with')
    .requiredOption('--name <name>', 'full name')
    .option('--password-stdin', 'read the password from stdin')
    .option('--generate-password', 'make a password and print it once');
  regionalCommand(shell, create, async (place, options) => {
    const generated = options.generatePassword ? generatePassword() : null;
    const password = generated ?? (await readPassword(shell, options));
    const user = await createUser(place, { email: options.email, name: options.name, password });
    const { userId, email, name } = user;
    const heading = `User registered.${generated ? ' This password is not shown again.' : ''}`;
    return {
      data: { ...user, password: generated },
      text: listing(heading, { userId, email, name, password: generated }),
    };
  });

  const disable = parent.command('disable <user>').description('keep a person out, by id or e-mail address');
  regionalCommand(shell, disable, async (place, _options, user) => {
    const data = await disableUser(place, user!);
    return { data, text: `${data.email} (${data.userId}) ${data.changed ? 'is' : 'was already'} disabled.` };
  });

  const enable = parent.command('enable <user>').description('let a disabled person in again');
  regionalCommand(shell, enable, async (place, _options, user) => {
    const data = await enableUser(place, user!);
    return { data, text: `${data.email} (${data.userId}) ${data.changed ? 'is' : 'was already'} enabled.` };
  });

  addPictureCommand(parent, shell);
}

function membershipCommands(parent: Command, shell: Shell): void {
  const add = parent
    .command('add')
    .description("put a user into a builder's account")
    .requiredOption('--user <user>', 'id or e-mail address')
    .requiredOption('--builder <id>', 'builder')
    .option('--role <role>', "the builder's word for what the user does", 'MEMBER');
  regionalCommand(shell, add, async (place, { user, builder, role }) => {
    const data = await addMembership(place, { user, builderId: builder, role });
    return { data, text: `${data.email} is a member of ${data.builderName} (${builder}) as ${data.role}.` };
  });

  const remove = parent
    .command('remove')
    .description("take a user out of a builder's account; tokens for that builder end")
    .requiredOption('--user <user>', 'id or e-mail address')
    .requiredOption('--builder <id>', 'builder');
  regionalCommand(shell, remove, async (place, { user, builder }) => {
    const data = await removeMembership(place, { user, builderId: builder });
    return { data, text: `${data.email} is no longer a member of ${data.builderName} (${builder}).` };
  });
}

function siteAccessCommands(parent: Command, shell: Shell): void {
  const pair = (command: Command) =>
    command.requiredOption('--worker <id>', 'worker').requiredOption('--project <id>', 'project of the same builder');

  const grant = pair(parent.command('grant').description("let a worker enter a project's site"));
  regionalCommand(shell, grant, async (place, { worker, project }) => {
    const data = await grantSiteAccess(place, { workerId: worker, projectId: project });
    return { data, text: `${worker} ${data.changed ? 'may' : 'could already'} enter ${project}.` };
  });

  const revoke = pair(parent.command('revoke').description("end a worker's access; the relationship stays known"));
  regionalCommand(shell, revoke, async (place, { worker, project }) => {
    const data = await revokeSiteAccess(place, { workerId: worker, projectId: project });
    return { data, text: `The access of ${worker} to ${project} ${data.changed ? 'is' : 'was already'} revoked.` };
  });
}
