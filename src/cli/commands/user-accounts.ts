import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { inviteUser, resetPassword } from '../../domain/access/password-links.ts';
import { generatePassword } from '../../domain/access/password-rules.ts';
import { createUserInRegions, type NewUser } from '../../domain/access/users.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { CliError } from '../cli-error.ts';
import { formatFields } from '../io/cli-io.ts';
import { withRegionalContexts } from '../services/database-session.ts';
import { sendPasswordLink } from '../services/password-links.ts';
import { type CommandGroup, option, regionOption, required } from './command-group.ts';

/** Adds `user create`, which can register a staff user in both regions. */
export function addUserCreateCommand(group: CommandGroup): void {
  const { io } = group;
  const options = [
    required('--email <address>', 'e-mail address to sign in with'),
    required('--name <name>', 'full name'),
    option('--password-stdin', 'read the password from stdin'),
    option('--generate-password', 'generate a password and print it once'),
    option('--no-password', 'set no password; invite the user afterwards'),
    option('--staff', 'a staff user, who works for the operator and uses the console only'),
    option('--role <role>', 'role of a staff user: VIEWER, OPERATOR or ADMIN'),
    regionOption([...REGIONS, 'both']).default('au1'),
  ];
  const create = 'register a user; one of the options says how the password is set';
  group.add('create', create, options, async (values) => {
    const staffRole = parseStaffOptions(values);
    const generated = values.generatePassword ? generatePassword() : null;
    const password = values.password === false ? null : (generated ?? (await readPassword(values, io.stdin)));
    const request: NewUser = { email: values.email, name: values.name, password, staffRole };
    const regions: readonly RegionId[] = values.region === 'both' ? REGIONS : [values.region];
    const users = await withRegionalContexts(io, staffRole ? REGIONS : regions, 'user create', (contexts) => {
      const isRequested = ({ database }: ChangeContext) => regions.includes(database.region);
      const others = contexts.filter((context) => !isRequested(context));
      return createUserInRegions(contexts.filter(isRequested), request, others);
    });
    const { regionId, userId, email, name, createdAt } = users[0]!;
    const regionIds = users.map((user) => user.regionId);
    const present = regions.filter((region) => !regionIds.includes(region));
    const kept = present.map((region) => ` ${region} has the user already, and keeps the password there.`).join('');
    const heading = `User registered.${kept}${generated ? ' This password is not shown again.' : ''}`;
    const staff = staffRole === undefined ? {} : { staffRole, regionIds };
    return {
      data: { regionId, userId, email, name, createdAt, ...staff, password: generated },
      text: formatFields(heading, { userId, email, name, role: staffRole, regions: regionIds, password: generated }),
    };
  });
}

/** Reads the password from stdin with `--password-stdin`. A line break at its end is not part of it. */
async function readPassword({ passwordStdin }: { passwordStdin?: boolean }, stdin: Readable): Promise<string> {
  if (passwordStdin) return (await text(stdin)).replace(/\r?\n$/, '');
  throw CliError.forOption('password', 'is required: use --password-stdin, --generate-password or --no-password');
}

function parseStaffOptions({ staff, role, region }: { staff?: boolean; role?: string; region: string }) {
  if (staff && role === undefined) throw CliError.forOption('--role', 'is required with --staff');
  if (!staff && role !== undefined) throw CliError.forOption('--role', 'is only for a staff user: add --staff');
  if (!staff && region === 'both') throw CliError.forOption('--region', 'both is only for a staff user');
  return role;
}

/** Adds the commands that create a one-time link for choosing a password. */
export function addPasswordLinkCommands(group: CommandGroup): void {
  const commands = [
    { name: 'invite', description: 'create a one-time link for a user without a password', createLink: inviteUser },
    { name: 'reset-password', description: 'create a one-time link to a new password', createLink: resetPassword },
  ];
  for (const { name, description, createLink } of commands) {
    const sending = `${description}; sends it by e-mail if SMTP_URL is set, and prints it otherwise`;
    const options = [option('--print', 'print the link although SMTP_URL is set')];
    group.addRegional(`${name} <user>`, sending, options, async (context, { print }, user) => {
      const data = await sendPasswordLink(group.io, context, { print: print === true }, (emailed) =>
        createLink(context, user!, emailed),
      );
      const { emailed, email, link, expiresAt } = data;
      const heading = emailed ? `The link was sent to ${email}.` : `The link for ${email}. It works once.`;
      return { data, text: formatFields(heading, { link, expires: expiresAt }) };
    });
  }
}
