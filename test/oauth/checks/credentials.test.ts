import { expect, test } from 'vitest';
import { requireCredentials } from '../../../src/oauth/checks/credentials.ts';
import { errorOf } from './fixtures.ts';

const header = `Basic ${Buffer.from('cli_a:secret').toString('base64')}`;

test('RFC 6749 section 2.3: credentials are in the body or in the header, and do not contradict (OAU-1, OAU-2)', () => {
  const inBody = new Map([['client_id', 'cli_a']]);
  expect(requireCredentials(inBody, undefined)).toEqual({ clientId: 'cli_a', secret: null, viaHeader: false });
  expect(requireCredentials(inBody, header)).toEqual({ clientId: 'cli_a', secret: 'secret', viaHeader: true });
  expect(errorOf(() => requireCredentials(new Map(), undefined))).toBe('invalid_client');
  expect(errorOf(() => requireCredentials(new Map([['client_id', 'cli_b']]), header))).toBe('invalid_request');
  expect(errorOf(() => requireCredentials(new Map([['client_secret', 'b']]), header))).toBe('invalid_request');
});
