import { randomBytes } from 'node:crypto';
import { InvalidInputError } from './invalid-input-error.ts';

export const SHORTEST_PASSWORD = 8;
export const LONGEST_PASSWORD = 200;

/** Generates a password of 120 random bits. */
export const generatePassword = () => randomBytes(15).toString('base64url');

/** Throws `InvalidInputError` for a password that cannot be set. Lengths are Unicode code points. */
export function checkPassword(password: string): void {
  const { length } = [...password];
  if (length < SHORTEST_PASSWORD)
    throw new InvalidInputError('password', `must have at least ${SHORTEST_PASSWORD} characters`);
  if (length > LONGEST_PASSWORD)
    throw new InvalidInputError('password', `must have at most ${LONGEST_PASSWORD} characters`);
  if (/\p{Cc}/u.test(password)) throw new InvalidInputError('password', 'must be one line of text');
}
