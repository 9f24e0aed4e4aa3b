import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashSecret, isSecretOf, newSecret } from '../../src/shared/secrets.ts';

test('a secret is 256 random bits in base64url (OAU-6)', () => {
  const secrets = Array.from({ length: 100 }, newSecret);
  for (const secret of secrets) expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(new Set(secrets).size).toBe(100);
});

test('hashSecret returns SHA-256 in lower-case hexadecimal (OAU-41)', () => {
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(hashSecret('ü')).toBe(createHash('sha256').update(Buffer.from('ü')).digest('hex'));
});

test('isSecretOf compares with the first two digests only (OAU-41)', () => {
  const [one, two, three] = [newSecret(), newSecret(), newSecret()];
  const digests = [one, two, three].map(hashSecret);
  expect([one, two, three, '', digests[0]!, '0'.repeat(64)].map((text) => isSecretOf(text, digests))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(isSecretOf(one, [])).toBe(false);
});
