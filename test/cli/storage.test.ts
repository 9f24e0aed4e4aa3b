import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Builder } from '../../entities/builder.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { loadConfig } from '../../src/config.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { createPicture } from '../support/images.ts';
import { CLI_START, seedBuilders, toTimestamp, useCli } from './cli-harness.ts';

const cli = useCli();

beforeAll(async () => {
  await seedBuilders(cli);
});

const em = () => cli.databases.au1.fork();
const readStored = (key: string) => {
  const { env, clock } = cli;
  return openStorages(loadConfig(env), { secrets: [''], clock }).au1.byteStore.stat(key);
};

async function writeTemporaryFile(name: string, bytes: Buffer | string): Promise<string> {
  const path = join(cli.env.DATA_DIR!, name);
  await writeFile(path, bytes);
  return path;
}

describe('image-host', () => {
  it('approves a host once, lists and revokes it', async () => {
    const approve = ['image-host', 'approve', 'Images.Example.com'];
    expect(await cli.json(approve)).toEqual({ regionId: 'au1', host: 'images.example.com', changed: true });
    expect(await cli.json(approve)).toMatchObject({ changed: false });
    expect(await cli.json(['image-host', 'list'])).toEqual({
      regionId: 'au1',
      hosts: [{ host: 'images.example.com', createdAt: toTimestamp(CLI_START) }],
      nextCursor: null,
    });
    expect((await cli.json(['image-host', 'list', '--region', 'us1'])).hosts).toEqual([]);
    const { out } = await cli.run(['image-host', 'revoke', 'images.example.com']);
    expect(out).toBe('images.example.com is no longer approved.\n');
    expect((await cli.json(['image-host', 'list'])).hosts).toEqual([]);
  });

  it('rejects an invalid host name', async () => {
    for (const host of ['localhost', '10.0.0.1', 'https://images.example.com', 'a.example/path']) {
      expect(await cli.errorOf(['image-host', 'approve', host])).toMatch(/^HOST: /);
    }
  });
});

describe('builder set-logo and user set-picture', () => {
  it('store the image and its key in the row', async () => {
    const file = await writeTemporaryFile('logo.png', await createPicture('png'));
    const { logoKey } = await cli.json(['builder', 'set-logo', 'buil_a', file]);
    expect(await em().findOne(Builder, 'buil_a')).toMatchObject({ logoKey, updatedAt: toTimestamp(CLI_START) });
    expect(await readStored(logoKey)).not.toBeNull();
    const person = ['user', 'create', '--email', 'kim@example.com', '--name', 'Kim', '--generate-password'];
    const { userId } = await cli.json(person);
    const { pictureKey } = await cli.json(['user', 'set-picture', 'kim@example.com', file]);
    expect(await em().findOne(User, userId)).toMatchObject({ pictureKey });
    expect(await readStored(pictureKey)).not.toBeNull();
  });

  it('reject a file that is not an image, and an unknown builder or user', async () => {
    const file = await writeTemporaryFile('logo.txt', 'no image');
    expect(await cli.errorOf(['builder', 'set-logo', 'buil_a', file])).toMatch(/^FILE: .*accepted type/);
    expect(await cli.errorOf(['builder', 'set-logo', 'buil_none', file])).toMatch(/^BUILDER: /);
    expect(await cli.errorOf(['user', 'set-picture', 'nobody@example.com', file])).toMatch(/^USER: /);
    for (const path of ['/nowhere.png', `/${'x'.repeat(300)}`, '/none\nuser_admin  ADMIN']) {
      const error = await cli.errorOf(['builder', 'set-logo', 'buil_a', path]);
      expect(error).toMatch(`${path.slice(0, 5)}`);
      expect(error).toContain('cannot be used');
      expect(error).not.toContain('\n');
    }
    // A disk that fails while the file is read.
    if (process.platform === 'linux')
      expect(await cli.errorOf(['builder', 'set-logo', 'buil_a', '/proc/self/mem'])).toMatch(/^EIO: /);
  });
});

describe('builder update', () => {
  const update = (...args: string[]) => cli.json(['builder', 'update', 'buil_b', ...args]);

  it('sets the time zone, and with `default` that of the region again (RED-30)', async () => {
    cli.clock.at += 1000;
    const perth = { regionId: 'au1', builderId: 'buil_b', timeZone: 'Australia/Perth' };
    expect(await update('--time-zone', 'Australia/Perth')).toEqual({ ...perth, changed: true });
    expect(await em().findOne(Builder, 'buil_b')).toMatchObject({
      timeZone: 'Australia/Perth',
      updatedAt: toTimestamp(cli.clock.at),
    });
    expect(await update('--time-zone', 'Australia/Perth')).toEqual({ ...perth, changed: false });
    expect(await update()).toEqual({ ...perth, changed: false });
    const sydney = { timeZone: 'Australia/Sydney', changed: true };
    expect(await update('--time-zone', 'default')).toMatchObject(sydney);
    expect(await em().findOne(Builder, 'buil_b')).toMatchObject({ timeZone: null });
  });

  it.each(['Asia/Kolkata', 'Europe/Kyiv', 'Etc/UTC', 'Australia/Canberra'])('sets the time zone %s', async (zone) => {
    expect(await update('--time-zone', zone)).toMatchObject({ timeZone: zone, changed: true });
  });

  it.each(['Mars/Olympus', '+10:00', 'australia/sydney', ''])('rejects the time zone %j', async (zone) => {
    const args = ['builder', 'update', 'buil_b', '--time-zone', zone];
    expect(await cli.errorOf(args)).toMatch(/^--time-zone: .*is not a time zone/);
  });

  it('rejects an unknown builder', async () => {
    const message = await cli.errorOf(['builder', 'update', 'buil_none', '--time-zone', 'UTC']);
    expect(message).toBe('BUILDER: there is no builder buil_none in au1.');
  });
});
