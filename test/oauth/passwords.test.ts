import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '../../src/domain/access/passwords.ts';

describe('a password', () => {
  it('is stored as argon2id in PHC format with a random salt (OAU-41)', async () => {
    const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z\d+/]{22}\$[A-Za-z\d+/]{43}$/);
    expect(other).not.toBe(one);
  });

  it('is verified against its hash, and other passwords are rejected', async () => {
    const stored = await hashPassword('correct horse');
    expect(await verifyPassword('correct horse', stored)).toBe(true);
    expect(await verifyPassword('correct horsf', stored)).toBe(false);
    expect(await verifyPassword('', stored)).toBe(false);
  });

  it('is normalized before hashing', async () => {
    expect(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });

  it('is verified against a hash of the reference implementation', async () => {
    // Created by: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
    const stored = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect(await verifyPassword('password', stored)).toBe(true);
  });

  it('is rejected without a valid stored hash', async () => {
    for (const stored of [
      null,
      '',
      'hash',
      '$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8',
    ]) {
      expect(await verifyPassword('password', stored)).toBe(false);
    }
  });
});
