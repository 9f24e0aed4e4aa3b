import { expect, test } from 'vitest';
import { readBasicCredentials } from '../../../src/oauth/checks/basic-credentials.ts';
import { errorOf } from './fixtures.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test('RFC 6749 section 2.3.1: client_id and secret are form-encoded within the Basic header (OAU-2)', () => {
  expect(readBasicCredentials(basic('cli%5Fa:a%3A+b'))).toEqual({ clientId: 'cli_a', secret: 'a: b' });
  expect(readBasicCredentials(basic('cli_a:'))).toEqual({ clientId: 'cli_a', secret: null });
  for (const wrong of [basic('cli_a'), basic(':secret'), basic('cli_a:%zz'), 'Bearer abc', 'Basic !', '']) {
    expect(
      errorOf(() => readBasicCredentials(wrong)),
      wrong,
    ).toBe('invalid_client');
  }
});
