import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type CliIo, formatFields } from '../io/cli-io.ts';
import { approveImageHost, listImageHosts, revokeImageHost } from '../services/image-hosts.ts';
import { setBuilderLogo, setUserPicture } from '../services/images.ts';
import { withStorage } from '../services/storage.ts';
import { addCommandGroup, defineRegionalCommand } from './define-command.ts';

/** Adds the commands for approved image hosts and for builders' logos. */
export function addStorageCommands(program: Command, io: CliIo): void {
  const hosts = addCommandGroup(program, 'image-host', 'hosts that imageUrl may refer to');
  defineRegionalCommand(
    io,
    hosts.command('approve <host>').description('approve a reviewed host'),
    async (context, _options, host) => {
      const data = await approveImageHost(context, host!);
      return { data, text: `${data.host} ${data.changed ? 'is' : 'was already'} approved.` };
    },
  );
  defineRegionalCommand(
    io,
    hosts.command('revoke <host>').description('revoke an approval'),
    async (context, _options, host) => {
      const data = await revokeImageHost(context, host!);
      return { data, text: `${data.host} ${data.changed ? 'is no longer' : 'was not'} approved.` };
    },
  );
  defineRegionalCommand(io, hosts.command('list').description('list the approved hosts'), async (context) => {
    const data = await listImageHosts(context);
    const lines = data.hosts.map(({ host, createdAt }) => [host, `since ${createdAt}`]);
    return { data, text: formatFields('Approved hosts:', Object.fromEntries(lines)) };
  });

  const builder = addCommandGroup(program, 'builder', 'settings of a builder');
  const logo = builder.command('set-logo <builder> <file>').description('set the company logo to an image file');
  defineRegionalCommand(io, logo, async (context, _options, id, file) => {
    const request = { builder: id!, file: resolve(file!) };
    const data = await withStorage(io, context, (storage) => setBuilderLogo(context, storage, request));
    return { data, text: `${data.builderId} has a new logo (${data.contentType}).` };
  });
}

/** Adds `user set-picture` to the group of user commands. */
export function addPictureCommand(users: Command, io: CliIo): void {
  const picture = users.command('set-picture <user> <file>').description('set the profile picture to an image file');
  defineRegionalCommand(io, picture, async (context, _options, user, file) => {
    const request = { user: user!, file: resolve(file!) };
    const data = await withStorage(io, context, (storage) => setUserPicture(context, storage, request));
    return { data, text: `${data.email} (${data.userId}) has a new picture (${data.contentType}).` };
  });
}
