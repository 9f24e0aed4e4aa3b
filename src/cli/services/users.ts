import { randomBytes } from 'node:crypto';
import { User } from '../../../entities/user.entity.ts';
import { newId } from '../../shared/ids.ts';
import { hashPassword } from '../../shared/passwords.ts';
import { refuse } from '../cli-error.ts';
import { emailAddress, identifier, oneLine } from './checks.ts';
import { insertOnce, inTransaction, lockRow, type Place } from './command-context.ts';

const SHORTEST_PASSWORD = 8;
const LONGEST_PASSWORD = 200;

export interface NewUser {
  email: string;
  name: string;
  password: string;
}

/** A password to hand over: 120 random bits. */
export const generatePassword = () => randomBytes(15).toString('base64url');

/** Registers a person who signs in; membership of builders comes apart. */
export async function createUser(place: Place, request: NewUser) {
  const email = emailAddress(request.email);
  const name = oneLine('--name', request.name);
  checkPassword(request.password);
  const passwordHash = await hashPassword(request.password);
  const taken = { option: '--email', problem: `${place.database.region} has a user ${email} already` };
  return inTransaction(place, async (em, now) => {
    const id = newId('user', place.clock.now());
    const row = { id, email, name, passwordHash, pictureKey: null, disabledAt: null, createdAt: now, updatedAt: now };
    await insertOnce(em, User, row, taken);
    return { userId: id, email, name, createdAt: now };
  });
}

/** Keeps a person out, whatever sessions and tokens they have. */
export const disableUser = (place: Place, who: string) => switchUser(place, who, false);

/** Lets a disabled person in again. */
export const enableUser = (place: Place, who: string) => switchUser(place, who, true);

async function switchUser(place: Place, who: string, enabled: boolean) {
  return inTransaction(place, async (em, now) => {
    const user = await lockRow(em, User, whereUser('USER', who));
    if (!user) return refuse('USER', `there is no user ${who} in ${place.database.region}`);
    const changed = (user.disabledAt === null) !== enabled;
    if (changed) {
      user.disabledAt = enabled ? null : now;
      user.updatedAt = now;
    }
    return { userId: user.id, email: user.email, disabledAt: user.disabledAt, changed };
  });
}

/** A user by id or by e-mail address. */
export function whereUser(option: string, text: string): { id: string } | { email: string } {
  return text.includes('@') ? { email: text.trim().toLowerCase() } : { id: identifier(option, 'user', text) };
}

function checkPassword(password: string): void {
  const { length } = [...password];
  if (length < SHORTEST_PASSWORD) refuse('password', `must have at least ${SHORTEST_PASSWORD} characters`);
  if (length > LONGEST_PASSWORD) refuse('password', `must have at most ${LONGEST_PASSWORD} characters`);
  if (/\p{Cc}/u.test(password)) refuse('password', 'must be one line of text');
}
