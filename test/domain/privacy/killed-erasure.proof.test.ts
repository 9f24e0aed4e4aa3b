import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { listStoredErasures } from '../../../src/domain/privacy/erasure-list.ts';
import { replayErasures } from '../../../src/domain/privacy/replay-erasures.ts';
import { PACKAGE_ROOT } from '../../../src/shared/version.ts';
import { DataTransferFixture } from '../../data-transfer/data-transfer-fixture.ts';
import { startStore } from '../../support/stores.ts';
import { contextOf, findTablesWith, namePriyaEverywhere, PICTURE, PRIYA, PRIYA_IDS } from './privacy-fixture.ts';

const ROUNDS = 12;
/** Bounds of the milliseconds after the start of the command in which it erases. */
const [EARLIEST, LATEST] = [400, 2_500];

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

describe('person erase that is killed', () => {
  it('has either not begun or is completed by the replay, whenever it was killed (PRV-6)', async () => {
    const program = join(PACKAGE_ROOT, 'dist/src/cli.js');
    const outcomes: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const database = await fixture.createSampleDatabase();
      const store = await startStore();
      const storage = store.storages.au1;
      await namePriyaEverywhere(database, storage);
      const env = {
        ...{ PATH: process.env.PATH!, DATA_DIR: store.folder, LOG_LEVEL: 'silent' },
        ...{ DATABASE_URL_AU1: database.url, DATABASE_URL_US1: database.url },
      };
      const child = spawn(process.execPath, [program, 'person', 'erase', ...PRIYA_IDS, '--yes'], {
        env,
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      await Promise.race([ended, sleep(EARLIEST + ((LATEST - EARLIEST) * round) / ROUNDS)]);
      child.kill('SIGKILL');
      const [code] = await ended;
      const begun = (await listStoredErasures(storage)).length > 0;
      await replayErasures(contextOf(database, storage));
      const names = await findTablesWith(database, PRIYA.email);
      const picture = await storage.byteStore.stat(PICTURE);
      expect([names.length > 0, picture !== null]).toEqual([!begun, !begun]);
      outcomes.push(code === 0 ? 'ended' : begun ? 'killed after it had begun' : 'killed before');
      await store.stop();
    }
    expect(outcomes.length).toBe(ROUNDS);
  });
});
