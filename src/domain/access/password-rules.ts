import { randomBytes } from 'node:crypto';
import { toComparableText } from '../../shared/comparable-text.ts';
import { InvalidInputError } from './invalid-input-error.ts';

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 200;
const MIN_DISTINCT_CHARACTERS = 5;

/** Generates a password of 120 random bits. */
export const generatePassword = () => randomBytes(15).toString('base64url');

/** Throws `InvalidInputError` for a password that the person cannot set. Lengths are Unicode code points. OAU-44. */
export async function checkPassword(password: string, person: { name: string; email: string }): Promise<void> {
  const problem = await findPasswordProblem(password, person);
  if (problem !== null) throw new InvalidInputError('password', problem);
}

/** Returns why the person cannot set the password, as the rest of a sentence that begins with it; null for a password that can be set. */
export async function findPasswordProblem(
  password: string,
  { name, email }: { name: string; email: string },
): Promise<string | null> {
  const { length } = [...password];
  if (length < SHORTEST_PASSWORD) return `must have at least ${SHORTEST_PASSWORD} characters`;
  if (length > LONGEST_PASSWORD) return `must have at most ${LONGEST_PASSWORD} characters`;
  if (/\p{Cc}/u.test(password)) return 'must be one line of text';
  const words = toWords(password);
  if ([name, email, email.split('@', 1)[0]!].map(toWords).includes(words) || isOfParts(password, `${name} ${email}`)) {
    return 'must not be the name or e-mail address, or parts of them, with or without digits around it';
  }
  commonPasswords ??= loadCommonPasswords();
  const common = await commonPasswords;
  const isSimple = new Set(password).size < MIN_DISTINCT_CHARACTERS || isOfSequences(password);
  if (isSimple || [password.toLowerCase(), words, toRepeatedPart(password)].some((each) => common.has(each))) {
    return 'must not be one of the most common passwords, with or without digits around it, nor a few characters repeated or in sequence';
  }
  return null;
}

/** Returns a text in lower case without spaces, and without what is no letter at both ends. */
const toWords = (text: string): string =>
  toComparableText(text)
    .replace(/\s/g, '')
    .replace(/^\P{L}+|\P{L}+$/gu, '');

/** Whether the password is parts of the text, and fewer other characters than a password needs, none of them a letter. */
function isOfParts(password: string, text: string): boolean {
  const parts = toComparableText(text)
    .split(/\P{L}+/u)
    .filter(Boolean);
  parts.sort((a, b) => b.length - a.length);
  const others = parts
    .reduce((rest, part) => rest.replaceAll(part, ' '), toComparableText(password))
    .replace(/\s/g, '');
  return others.length < SHORTEST_PASSWORD && !/\p{L}/u.test(others);
}

/** Returns the shortest text of which the password is a repetition, such as `abc` of `abcabcabcabc`, in lower case; else the password. */
const toRepeatedPart = (password: string): string => password.toLowerCase().replace(/^(.+?)\1+$/su, '$1');

/** Whether all but a few characters are neighbours of the one before them, in the alphabet, the digits or a row of keys. */
function isOfSequences(password: string): boolean {
  const characters = [...password.toLowerCase()];
  const isNeighbour = (character: string, at: number) =>
    at > 0 && [character + characters[at - 1], characters[at - 1] + character].some((pair) => SEQUENCES.includes(pair));
  return characters.filter((character, at) => !isNeighbour(character, at)).length < MIN_DISTINCT_CHARACTERS;
}

const SEQUENCES =
  'abcdefghijklmnopqrstuvwxyz 01234567890 !@#$%^&*()_+ qwertyuiop qwertzuiop azertyuiop asdfghjkl zxcvbnm';

let commonPasswords: Promise<ReadonlySet<string>> | null = null;

/** The list of 49,000 is loaded for the first password that is set. */
async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common'].map(String));
}
