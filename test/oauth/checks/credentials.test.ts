import { expect, test } from 'vitest';
import { parseBasicCredentials, requireCredentials } from '../../../src/oauth/checks/credentials.check.ts';
import { errorOf } from './check-fixtures.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test('requireCredentials accepts body, header, or both if they are equal (RFC 6749 section 2.3) (OAU-1, OAU-2)', () => {
  const header = basic('cli_a:secret');
  const inBody = new Map([['client_id', 'cli_a']]);
  expect(requireCredentials(inBody, undefined)).toEqual({ clientId: 'cli_a', secret: null, viaHeader: false });
  expect(requireCredentials(inBody, header)).toEqual({ clientId: 'cli_a', secret: 'secret', viaHeader: true });
  expect(errorOf(() => requireCredentials(new Map(), undefined))).toBe('invalid_client');
  expect(errorOf(() => requireCredentials(new Map([['client_id', 'cli_b']]), header))).toBe('invalid_request');
  expect(errorOf(() => requireCredentials(new Map([['client_secret', 'b']]), header))).toBe('invalid_request');
});

test('parseBasicCredentials decodes the form-encoded client_id and secret (RFC 6749 section 2.3.1) (OAU-2)', () => {
  expect(parseBasicCredentials(basic('cli%5Fa:a%3A+b'))).toEqual({ clientId: 'cli_a', secret: 'a: b' });
  expect(parseBasicCredentials(basic('cli_a:'))).toEqual({ clientId: 'cli_a', secret: null });
  for (const invalid of [basic('cli_a'), basic(':secret'), basic('cli_a:%zz'), 'Bearer abc', 'Basic !', '']) {
    expect(
      errorOf(() => parseBasicCredentials(invalid)),
      invalid,
    ).toBe('invalid_client');
  }
});
