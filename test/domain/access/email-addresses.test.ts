import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestPasswordReset } from '../../../src/domain/access/password-links.ts';
import { createUser } from '../../../src/domain/access/users.ts';
import { findAccount } from '../../../src/oauth/interaction/sessions.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import { toComparableText } from '../../../src/shared/comparable-text.ts';
import { type CliHarness, startCli } from '../../cli/cli-harness.ts';
import { DataTransferFixture } from '../../data-transfer/data-transfer-fixture.ts';
import { OPERATOR } from '../../support/audit.ts';

const fixture = new DataTransferFixture();
const PASSWORD = 'correct horse battery staple 42';
let cli: CliHarness;

/** Each name and address with other spellings of it. */
const USERS = [
  ['İlker Işık', 'İlker@örnek.example', ['ilker@Örnek.example', 'ILKER@O\u0308RNEK.EXAMPLE']],
  ['Jörg Weiß', 'weiß@example.de', ['WEISS@example.de', 'weiẞ@EXAMPLE.DE']],
  ['Οδυσσέας', 'οδυσσέας@example.gr', ['ΟΔΥΣΣΈΑΣ@example.gr', 'οδυσσε\u0301ας@example.gr']],
] as const;
const SPELLINGS = USERS.flatMap(([name, email, spellings]) =>
  [email, ...spellings].map((each) => [each, email, name] as const),
);

const context = () => ({ database: cli.databases.au1, clock: systemClock, source: OPERATOR });
/** The stored address. */
const toStored = (email: string) => email.normalize('NFC').toLowerCase();

beforeAll(async () => {
  cli = await startCli();
  for (const [name, email] of USERS) await createUser(context(), { name, email, password: PASSWORD });
});
afterAll(async () => {
  await cli.close();
  await fixture.dispose();
});

describe.each(SPELLINGS)('the e-mail address %s', (spelling, email, name) => {
  it('signs in the one account', async () => {
    expect(await findAccount(cli.databases.au1, toComparableText(spelling), 'user')).not.toBeNull();
  });

  it('gets its link at the stored address', async () => {
    const link = await requestPasswordReset(context(), spelling);
    expect(link).toMatchObject({ email: toStored(email), name });
    await cli.databases.au1.fork().execute('delete from password_link');
  });

  it('is found by commands and in searches', async () => {
    expect(await cli.json(['user', 'show', spelling])).toMatchObject({ name, email: toStored(email) });
    expect(await cli.json(['user', 'list', '--email', spelling.slice(0, -2)])).toMatchObject({ users: [{ name }] });
    expect(await cli.json(['person', 'find', spelling])).toMatchObject({ people: [{ name }] });
  });

  it('is of no second user: registered or changed', async () => {
    await expect(createUser(context(), { name, email: spelling, password: null })).rejects.toThrow('already');
    const other = await createUser(context(), { name, email: 'other@example.com', password: null });
    const update = ['user', 'update', other.userId, '--email', spelling];
    expect(await cli.errorOf(update)).toMatch(/^--email: au1 has a user .* already\.$/);
    await cli.databases.au1.fork().execute('delete from app_user where id = ?', [other.userId]);
  });
});

it.each([0, 1, 2])('no second user of an address is imported, in spelling %d of each', async (index) => {
  const times = { createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' };
  const rows = USERS.map(([name, email, spellings], user) => {
    return { id: `user_second${user}`, name, email: toStored([email, ...spellings][index]!), ...times };
  });
  const { err } = await cli.run(['import', await fixture.createFolder({ users: rows })]);
  for (const line of rows.keys())
    expect(err).toMatch(new RegExp(`^users\\.ndjson:${line + 1}: email: has the same email as user_`, 'm'));
});

it.each(USERS)('the name %s is found in capital letters', async (name) => {
  expect(await cli.json(['user', 'list', '--name', name.toUpperCase()])).toMatchObject({ users: [{ name }] });
});
