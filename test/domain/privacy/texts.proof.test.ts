import { afterAll, describe, expect, it } from 'vitest';
import { importFolder } from '../../../src/data-transfer/import.ts';
import { PEOPLE_LOCK } from '../../../src/domain/privacy/erase-person.ts';
import { DataTransferFixture } from '../../data-transfer/data-transfer-fixture.ts';
import { ConcurrentTransaction } from '../../support/concurrent-transaction.ts';

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

describe('an erased member of staff', () => {
  // The import tries to take the lock for four seconds.
  it('is not brought back by an import that ends during the erasure (PRV-11)', async () => {
    const database = await fixture.createEmptyDatabase();
    const other = await ConcurrentTransaction.open(database.url);
    const folder = await fixture.createFolder({ 'sign-on-visits': '' });
    await other.whileOpen(`select pg_advisory_xact_lock(hashtext('${PEOPLE_LOCK}'))`, [], () =>
      expect(importFolder(database, folder)).rejects.toThrow('A person was erased during the import'),
    );
    await other.close();
  });
});
