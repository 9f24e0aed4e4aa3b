import { describe, expect, it } from 'vitest';
import { parseEmailAddress, parseOrigin, parseRedirectUri } from '../../../src/domain/access/access-values.ts';

describe('parseRedirectUri', () => {
  it.each([
    'https://app.example.com/oauth/callback?tenant=1',
    'http://localhost:8123/cb',
    'http://127.0.0.1:8123/cb',
    'http://[::1]:8123/cb',
    'com.example.site-app:/cb',
    'com.example.app://cb',
  ])('returns %s unchanged', (uri) => {
    expect(parseRedirectUri(uri)).toBe(uri);
  });

  it.each([
    ['a fragment', 'https://a.com/cb#x', 'has a fragment'],
    ['an empty fragment', 'https://a.com/cb#', 'has a fragment'],
    ['http elsewhere', 'http://a.com/cb', 'must be https'],
    ['a host that only begins like loopback', 'http://127.0.0.1.a.com/cb', 'must be https'],
    ['a script', 'javascript:alert(1)', 'must be https'],
    ['a scheme of no domain', 'myapp://cb', 'must be https'],
    ['credentials', 'https://user@a.com/cb', 'contains credentials'],
    ['a wildcard', 'https://*.a.com/cb', 'has a wildcard'],
    ['a path alone', '/cb', 'is not a URI'],
    ['a space', 'https://a.com/c b', 'is not a URI'],
    ['a backslash', 'https:\\\\a.com/cb', 'is not a URI'],
    ['missing slashes', 'https:a.com/cb', 'is not a URI'],
    ['great length', `https://a.com/${'x'.repeat(2000)}`, 'is longer than 2000'],
  ])('rejects %s', (_case, uri, problem) => {
    expect(() => parseRedirectUri(uri)).toThrow(`redirectUris: "${uri}" ${problem}`);
  });
});

describe('parseOrigin', () => {
  it.each(['https://app.example.com', 'https://app.example.com:8443', 'http://localhost:3000'])(
    'accepts %s',
    (origin) => {
      expect(parseOrigin(origin)).toBe(origin);
    },
  );

  it.each([
    ['a path', 'https://a.com/', 'is not an origin; a browser would send https://a.com'],
    ['upper case', 'https://A.com', 'is not an origin; a browser would send https://a.com'],
    ['the default port', 'https://a.com:443', 'is not an origin; a browser would send https://a.com'],
    ['http elsewhere', 'http://a.com', 'must be https'],
    ['null', 'null', 'is not an origin'],
    ['any origin', '*', 'is not an origin'],
    ['a wildcard', 'https://*.a.com', 'has a wildcard'],
  ])('rejects %s', (_case, origin, problem) => {
    expect(() => parseOrigin(origin)).toThrow(`origins: "${origin}" ${problem}`);
  });
});

describe('parseEmailAddress', () => {
  it('returns the address in lower case', () => {
    expect(parseEmailAddress(' Sam.Hill+site@Example.COM ')).toBe('sam.hill+site@example.com');
  });

  it.each([
    '',
    'sam',
    'sam@',
    '@example.com',
    'sam@localhost',
    'sam@example.',
    'a b@example.com',
    'a@b@example.com',
    'Sam <sam@example.com>',
    `${'x'.repeat(320)}@example.com`,
  ])('rejects "%s"', (text) => {
    expect(() => parseEmailAddress(text)).toThrow(/^email: ".*" is not an e-mail address\.$/);
  });
});
