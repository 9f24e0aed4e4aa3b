import { isIP, isIPv4 } from 'node:net';
import { availableParallelism } from 'node:os';
import { splitAddresses } from '../shared/postgres-url.ts';
import { quoteValue } from './quote-value.ts';

/** A limit of `requests` in each window of `seconds`. */
export interface RateLimit {
  requests: number;
  seconds: number;
}

/** Converts the text of a setting to its value. Throws `InvalidValue`. */
export type Parser<T> = (text: string) => T;

/** A value that a setting cannot have. The message continues a sentence that begins with the setting's name. */
export class InvalidValue extends Error {
  override name = 'InvalidValue';
}

export const parseText: Parser<string> = (text) => text;

/** A bucket, its ARN or a region. Messages of the store's SDK about another text quote it, also credentials of an address. */
export function parseStoreName(text: string): string {
  if (/^(arn:[\w:/.-]+|[\w.-]+)$/.test(text)) return text;
  throw expected('a name without spaces and slashes', text);
}

/** Creates a parser for an integer. `description` continues an error: `must be a port number from 1 to 65535`. */
export const createIntegerParser = (min: number, max: number, description: string): Parser<number> => {
  return (text) => parseInteger(text, min, max, `${description} from ${min} to ${max}`);
};

/** A number of processes; `max` is one for each core. */
export function parseWorkers(text: string): number {
  return text === 'max' ? availableParallelism() : parseInteger(text, 1, 999, 'a number from 1 to 999, or max');
}

/** Converts MiB to bytes; 0 means no limit and gives null. */
export function parseQuota(text: string): number | null {
  return parseInteger(text, 0, 999_999_999, 'a number of MiB, or 0 for no limit') * 1024 * 1024 || null;
}

/** Converts `requests/seconds`; 0 means no limit and gives null. */
export function parseRateLimit(text: string): RateLimit | null {
  if (text === '0') return null;
  const match = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(text);
  if (!match) throw expected('requests/seconds such as 1000/10, or 0 for no limit', text);
  return { requests: Number(match[1]), seconds: Number(match[2]) };
}

/** Creates a parser for one of the choices. */
export function createChoiceParser<const T extends string>(...choices: T[]): Parser<T> {
  return (text) => {
    const choice = choices.find((each) => each === text);
    if (choice === undefined) throw expected(listChoices(choices), text);
    return choice;
  };
}

/** The value contains a password, so the message does not quote it. */
export function parsePostgresUrl(text: string): string {
  const form = 'must be a URL such as postgresql://user:password@host:5432/database';
  if (splitAddresses(text).length > 1) {
    throw new InvalidValue('must have one address, such as that of a proxy that leads to the primary');
  }
  if (!URL.canParse(text)) throw new InvalidValue(`${form}, and its value is not a URL`);
  const { protocol, pathname, searchParams } = new URL(text);
  if (!/^postgres(ql)?:$/.test(protocol)) throw new InvalidValue(`${form}, and its value is of another scheme`);
  // The rest of a password with a slash. Messages about the connection name the database.
  if (pathname.includes('@'))
    throw new InvalidValue(`${form}, and its value has a slash before the @: write it as %2F`);
  if (pathname.length < 2) throw new InvalidValue(`${form}, and its value names no database`);
  if (searchParams.has('target_session_attrs')) throw new InvalidValue('must have no target_session_attrs');
  return text;
}

/** Returns a URL for each address of a list of standbys. The value contains a password, so the message does not quote it. */
export function parseReplicas(text: string): readonly string[] {
  return splitAddresses(text).map(parsePostgresUrl);
}

/** The value contains a password, so the message does not quote it. */
export function parseSmtpUrl(text: string): string {
  if (URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol) && new URL(text).hostname !== '') return text;
  throw new InvalidValue('must be a URL such as smtps://user:password@mail.example.com');
}

/** An address, also with a name: `Builder Integration <no-reply@example.com>`. */
export function parseMailAddress(text: string): string {
  if (/^([^<>@\p{Cc}]* )?<?[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+>?$/u.test(text)) return text;
  throw expected('an e-mail address such as no-reply@example.com', text);
}

/** A number from 0 to 1. */
export function parseRatio(text: string): number {
  if (!/^(0|1|0?\.\d{1,6}|1\.0{1,6})$/.test(text)) throw expected('a number from 0 to 1', text);
  return Number(text);
}

export function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return requireNoCredentials(text);
  throw expected('an http: or https: URL', text);
}

/** Returns the origin of an address without path, query and fragment. */
export function parseHttpOrigin(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw expected('an http: or https: URL such as https://api.example.com', text);
  }
  const { origin, pathname, search, hash } = new URL(requireNoCredentials(text));
  if (pathname !== '/' || search || hash) {
    throw new InvalidValue(`must have no path, query or fragment: use ${origin} in place of ${quoteValue(text)}`);
  }
  return origin;
}

/** Clients of HTTP reject a URL with a user, in messages that quote it. */
function requireNoCredentials(text: string): string {
  const { username, password } = new URL(text);
  if (username || password) throw new InvalidValue(`must have no user or password, not ${quoteValue(text)}`);
  return text;
}

/**
 * Returns a number of proxies or their addresses, as Fastify's `trustProxy` takes them. `true` is rejected: with it a client
 * determines its own address.
 */
export function parseProxies(text: string): false | number | string {
  if (text === 'false') return false;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  if (text.split(',').every((each) => isNetwork(each.trim()))) return text;
  throw expected('a number of proxies, or their IP addresses or networks with commas', text);
}

/** Whether Fastify accepts the text as an IP address, a network such as `10.0.0.0/8`, or the name of one. */
function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [, address = '', bits = '1'] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  return isIP(address) !== 0 && Number(bits) >= 1 && Number(bits) <= (isIPv4(address) ? 32 : 128);
}

/** An IP address or the name of a host. */
export function parseHost(text: string): string {
  const isName = /^(?=.{1,253}$)[a-z\d_]([a-z\d_-]*[a-z\d_])?(\.[a-z\d_]([a-z\d_-]*[a-z\d_])?)*$/i.test(text);
  if (isName || isIP(text)) return text;
  throw expected('an IP address or the name of a host', text);
}

const ADVICE = 'generate one with: openssl rand -hex 32';

/** Random values of 20 characters or more have this many different ones, also in hexadecimal. */
const MIN_DISTINCT_CHARACTERS = 8;
const NOT_RANDOM = `have at least ${MIN_DISTINCT_CHARACTERS} different characters; ${ADVICE}`;

/** A token that is compared as a whole. It is a secret, so messages do not quote it. */
export function parseSecretToken(text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new InvalidValue('must have only visible ASCII characters');
  if (text.length < 20) throw new InvalidValue(`must have at least 20 characters, not ${text.length}; ${ADVICE}`);
  if (new Set(text).size < MIN_DISTINCT_CHARACTERS) throw new InvalidValue(`must ${NOT_RANDOM}`);
  return text;
}

/** Keys in base64url or base64, with commas between them. They are secrets, so messages only quote positions and lengths. */
export function parseTokenKeys(text: string): readonly string[] {
  const keys = text.split(',');
  const bytes = keys.map((key) => Buffer.from(key, 'base64url'));
  for (const [index, key] of keys.entries()) {
    const subject = keys.length === 1 ? 'must' : `is ${keys.length} keys with commas, of which key ${index + 1} must`;
    if (key === '') throw new InvalidValue(`${subject} not be empty`);
    if (!/^[\w+/-]+={0,2}$/.test(key)) {
      throw new InvalidValue(`${subject} have only the characters of base64url, without spaces`);
    }
    const { length } = bytes[index]!;
    if (length < 32) {
      throw new InvalidValue(`${subject} have at least 32 bytes in base64url, not ${length}; ${ADVICE}`);
    }
    if (new Set(key).size < MIN_DISTINCT_CHARACTERS) throw new InvalidValue(`${subject} ${NOT_RANDOM}`);
    const same = bytes.findIndex((other) => other.equals(bytes[index]!));
    if (same < index) throw new InvalidValue(`${subject} not be key ${same + 1} again`);
  }
  return keys;
}

function parseInteger(text: string, min: number, max: number, description: string): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < min || value > max) throw expected(description, text);
  return value;
}

const expected = (description: string, text: string) =>
  new InvalidValue(`must be ${description}, not ${quoteValue(text)}`);

const listChoices = (choices: readonly string[]) =>
  choices.length > 1 ? `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}` : choices.join();
