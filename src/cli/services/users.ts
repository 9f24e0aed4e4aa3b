import { randomBytes } from 'node:crypto';
import { User } from '../../../entities/user.entity.ts';
import { newId } from '../../shared/ids.ts';
import { hashPassword } from '../../shared/passwords.ts';
import { CliError } from '../cli-error.ts';
import { parseEmailAddress, parseId, requireSingleLine } from './argument-parsers.ts';
import { type CommandContext, insertUnique, inTransaction, lockRow } from './command-context.ts';

const SHORTEST_PASSWORD = 8;
const LONGEST_PASSWORD = 200;

export interface NewUser {
  email: string;
  name: string;
  password: string;
}

/** Generates a password of 120 random bits. */
export const generatePassword = () => randomBytes(15).toString('base64url');

/** Registers a user without memberships. */
export async function createUser(context: CommandContext, request: NewUser) {
  const email = parseEmailAddress(request.email);
  const name = requireSingleLine('--name', request.name);
  checkPassword(request.password);
  const passwordHash = await hashPassword(request.password);
  const conflict = { option: '--email', problem: `${context.database.region} has a user ${email} already` };
  return inTransaction(context, async (em, now) => {
    const id = newId('user', context.clock.now());
    const row = { id, email, name, passwordHash, pictureKey: null, disabledAt: null, createdAt: now, updatedAt: now };
    await insertUnique(em, User, row, conflict);
    return { userId: id, email, name, createdAt: now };
  });
}

/** Disables a user. Their sessions and tokens stop working. */
export const disableUser = (context: CommandContext, who: string) => setUserEnabled(context, who, false);

/** Enables a disabled user again. */
export const enableUser = (context: CommandContext, who: string) => setUserEnabled(context, who, true);

async function setUserEnabled(context: CommandContext, who: string, enabled: boolean) {
  return inTransaction(context, async (em, now) => {
    const user = await lockRow(em, User, toUserFilter('USER', who));
    if (!user) throw CliError.forOption('USER', `there is no user ${who} in ${context.database.region}`);
    const changed = (user.disabledAt === null) !== enabled;
    if (changed) {
      user.disabledAt = enabled ? null : now;
      user.updatedAt = now;
    }
    return { userId: user.id, email: user.email, disabledAt: user.disabledAt, changed };
  });
}

/** Returns the filter for a user given by id or e-mail address. */
export function toUserFilter(option: string, text: string): { id: string } | { email: string } {
  return text.includes('@') ? { email: text.trim().toLowerCase() } : { id: parseId(option, 'user', text) };
}

function checkPassword(password: string): void {
  const { length } = [...password];
  if (length < SHORTEST_PASSWORD)
    throw CliError.forOption('password', `must have at least ${SHORTEST_PASSWORD} characters`);
  if (length > LONGEST_PASSWORD)
    throw CliError.forOption('password', `must have at most ${LONGEST_PASSWORD} characters`);
  if (/\p{Cc}/u.test(password)) throw CliError.forOption('password', 'must be one line of text');
}
