import { resolve } from 'node:path';
import type { Command } from 'commander';
import { listing, type Shell } from '../io/cli-io.ts';
import { approveImageHost, listImageHosts, revokeImageHost } from '../services/image-hosts.ts';
import { setBuilderLogo, setUserPicture } from '../services/pictures.ts';
import { withStorage } from '../services/storage.ts';
import { group, regionalCommand } from './define.ts';

/** Images: where they may come from, and those of builders and users. */
export function addStorageCommands(program: Command, shell: Shell): void {
  const hosts = group(program, 'image-host', 'hosts from which photos may be taken by imageUrl');
  regionalCommand(
    shell,
    hosts.command('approve <host>').description('allow a host that you have reviewed'),
    async (place, _options, host) => {
      const data = await approveImageHost(place, host!);
      return { data, text: `${data.host} ${data.changed ? 'is' : 'was already'} approved.` };
    },
  );
  regionalCommand(
    shell,
    hosts.command('revoke <host>').description('take that back'),
    async (place, _options, host) => {
      const data = await revokeImageHost(place, host!);
      return { data, text: `${data.host} ${data.changed ? 'is no longer' : 'was not'} approved.` };
    },
  );
  regionalCommand(shell, hosts.command('list').description('the approved hosts'), async (place) => {
    const data = await listImageHosts(place);
    const lines = data.hosts.map(({ host, createdAt }) => [host, `since ${createdAt}`]);
    return { data, text: listing('Approved hosts:', Object.fromEntries(lines)) };
  });

  const builder = group(program, 'builder', 'what belongs to a builder');
  const logo = builder.command('set-logo <builder> <file>').description('show an image file as the company logo');
  regionalCommand(shell, logo, async (place, _options, id, file) => {
    const request = { builder: id!, file: resolve(file!) };
    const data = await withStorage(shell, place, (storage) => setBuilderLogo(place, storage, request));
    return { data, text: `${data.builderId} has a new logo (${data.contentType}).` };
  });
}

/** For the group of the users' commands. */
export function addPictureCommand(users: Command, shell: Shell): void {
  const picture = users.command('set-picture <user> <file>').description('show an image file as the profile picture');
  regionalCommand(shell, picture, async (place, _options, user, file) => {
    const request = { user: user!, file: resolve(file!) };
    const data = await withStorage(shell, place, (storage) => setUserPicture(place, storage, request));
    return { data, text: `${data.email} (${data.userId}) has a new picture (${data.contentType}).` };
  });
}
