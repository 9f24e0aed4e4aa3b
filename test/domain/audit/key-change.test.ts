import { afterAll, expect, it } from 'vitest';
import { recordKeyChange } from '../../../src/domain/audit/record-key-change.ts';
import { DataTransferFixture } from '../../data-transfer/data-transfer-fixture.ts';

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

it('a change of the token keys is recorded once by instances that start at the same time', async () => {
  const database = await fixture.createEmptyDatabase();
  const record = (keyIds: string[], at: string) => Promise.all([1, 2].map(() => recordKeyChange(database, keyIds, at)));
  expect((await record(['one'], '2026-06-01T00:00:00.000Z')).sort()).toEqual([false, true]);
  expect((await record(['one', 'two'], '2026-06-02T00:00:00.000Z')).sort()).toEqual([false, true]);
  expect(await record(['one', 'two'], '2026-06-03T00:00:00.000Z')).toEqual([false, false]);
  const entries = await database
    .fork()
    .execute('select action, values_before, values_after from audit_entry order by at');
  expect(entries).toEqual([
    { action: 'signing_key.changed', values_before: null, values_after: { keyIds: ['one'] } },
    { action: 'signing_key.changed', values_before: { keyIds: ['one'] }, values_after: { keyIds: ['one', 'two'] } },
  ]);
});
