import { describe, expect, it } from 'vitest';
import { checkPassword, generatePassword } from '../../../src/domain/access/password-rules.ts';

const SAM = { name: 'Sam Müller-Webb', email: 'sam.mueller@example.com' };

describe('a password (OAU-44)', () => {
  it.each([
    ['elevenchars', 'at least 12 characters'],
    [`${'x y z a b '.repeat(20)}!`, 'at most 200 characters'],
    ['two lines\nof text', 'one line'],
    ['Password1234', 'common'],
    ['2026administrator!', 'common'],
    ['1q2w3e4r5t6y', 'common'],
    ['dragondragon', 'common'],
    ['abababababababab', 'few characters'],
    ['111111111111', 'few characters'],
    ['abcdefghijkl', 'in sequence'],
    ['ZYXWVUTSRQPO', 'in sequence'],
    ['qwertyuiopas', 'in sequence'],
    ['1234567890123', 'in sequence'],
    ['!@#$%^&*()_+', 'in sequence'],
    ['abcd1234efgh!', 'in sequence'],
    ['Sam Müller-Webb', 'name or e-mail'],
    ['sam mu\u0308ller-webb 1987', 'name or e-mail'],
    ['Sam Mü\u00adller\u2010Webb', 'name or e-mail'],
    ['SAM.MUELLER@example.com', 'name or e-mail'],
    ['sam.mueller2026', 'name or e-mail'],
    ['webbsamwebbsam', 'name or e-mail'],
    ['Sam1Webb2Sam3Webb', 'name or e-mail'],
    ['mueller_example!2026', 'name or e-mail'],
  ])('cannot be %s', async (password, problem) => {
    await expect(checkPassword(password, SAM)).rejects.toThrow(problem);
  });

  it.each([
    'correct horse battery',
    '4829103847561029',
    'ünïcode wörds',
    'sam and the horse',
    'webb-xk29fq-sam',
    'property 1234 zebra',
    generatePassword(),
  ])('can be %s', async (password) => {
    await expect(checkPassword(password, SAM)).resolves.toBeUndefined();
  });
});
