import { resolve } from 'node:path';
import type { Command } from 'commander';
import { updateBuilder } from '../../domain/access/builders.ts';
import { approveImageHost, revokeImageHost } from '../../domain/access/image-hosts.ts';
import { listImageHosts, showImageHost } from '../../domain/access/list-access.ts';
import type { CliIo } from '../io/cli-io.ts';
import { setBuilderLogo, setUserPicture } from '../services/images.ts';
import { openStorage } from '../services/storage.ts';
import { addCommandGroup, defineChangeCommand, defineListCommand, defineRegionalCommand } from './define-command.ts';
import { addBuilderPrivacyCommands } from './privacy.ts';

/** Adds the commands for approved image hosts and for builders' logos. */
export function addStorageCommands(program: Command, io: CliIo): void {
  const hosts = addCommandGroup(program, 'image-host', 'hosts that imageUrl may refer to');
  const approve = hosts.command('approve <host>').description('approve a reviewed host');
  defineChangeCommand(
    io,
    approve,
    approveImageHost,
    ({ host, changed }) => `${host} ${changed ? 'is' : 'was already'} approved.`,
  );
  const revoke = hosts.command('revoke <host>').description('revoke an approval');
  defineChangeCommand(
    io,
    revoke,
    revokeImageHost,
    ({ host, changed }) => `${host} ${changed ? 'is no longer' : 'was not'} approved.`,
  );
  const list = hosts.command('list').description('list the approved hosts').option('--host <text>', 'part of the name');
  defineListCommand(io, list, { name: 'hosts', columns: ['host', 'createdAt'] }, listImageHosts);
  const show = hosts.command('show <host>').description('show an approved host');
  defineRegionalCommand(io, show, async (context, _options, host) => {
    const data = await showImageHost(context, host!);
    return { data, text: `${data.host} is approved since ${data.createdAt}.` };
  });

  const builder = addCommandGroup(program, 'builder', 'settings of a builder');
  addBuilderPrivacyCommands(builder, io);
  const logo = builder.command('set-logo <builder> <file>').description('set the company logo to an image file');
  defineRegionalCommand(io, logo, async (context, _options, id, file) => {
    const request = { builder: id!, file: resolve(file!) };
    const data = await setBuilderLogo(context, await openStorage(io, context), request);
    return { data, text: `${data.builderId} has a new logo (${data.contentType}).` };
  });
  const update = builder
    .command('update <builder>')
    .description('change settings of a builder; those that are not given stay as they are')
    .option('--time-zone <name>', "IANA name, such as Australia/Perth; `default` for the region's");
  defineRegionalCommand(io, update, async (context, { timeZone }, id) => {
    const data = await updateBuilder(context, id!, { timeZone: timeZone === 'default' ? null : timeZone });
    return { data, text: `${data.builderId} ${data.changed ? 'is now' : 'was already'} in ${data.timeZone}.` };
  });
}

/** Adds `user set-picture` to the group of user commands. */
export function addPictureCommand(users: Command, io: CliIo): void {
  const picture = users.command('set-picture <user> <file>').description('set the profile picture to an image file');
  defineRegionalCommand(io, picture, async (context, _options, user, file) => {
    const request = { user: user!, file: resolve(file!) };
    const data = await setUserPicture(context, await openStorage(io, context), request);
    return { data, text: `${data.email} (${data.userId}) has a new picture (${data.contentType}).` };
  });
}
