import { resolve } from 'node:path';
import { updateBuilder } from '../../domain/access/builders.ts';
import { approveImageHost, revokeImageHost } from '../../domain/access/image-hosts.ts';
import { listImageHosts, showImageHost } from '../../domain/access/list-access.ts';
import { retryRenditions } from '../../domain/photos/rendition-claims.ts';
import { setBuilderLogo, setUserPicture } from '../services/images.ts';
import { openStorage } from '../services/storage.ts';
import { type CommandGroup, isOrWasAlready, option } from './command-group.ts';
import { addBuilderPrivacyCommands } from './privacy.ts';

/** Adds the commands for approved image hosts, builders' logos and renditions of photos. */
export function addStorageCommands(program: CommandGroup): void {
  const hosts = program.addGroup('image-host', 'hosts that imageUrl may refer to');
  hosts.addChange('approve <host>', 'approve a reviewed host', [], approveImageHost, (data) => {
    return `${data.host} ${isOrWasAlready(data)} approved.`;
  });
  hosts.addChange('revoke <host>', 'revoke an approval', [], revokeImageHost, ({ host, changed }) => {
    return `${host} ${changed ? 'is no longer' : 'was not'} approved.`;
  });
  const filters = [option('--host <text>', 'part of the name')];
  hosts.addList('list the approved hosts', { name: 'hosts', columns: ['host', 'createdAt'] }, filters, listImageHosts);
  hosts.addRegional('show <host>', 'show an approved host', [], async (context, _options, host) => {
    const data = await showImageHost(context, host!);
    return { data, text: `${data.host} is approved since ${data.createdAt}.` };
  });

  addRenditionCommands(program.addGroup('renditions', 'renditions of photos'));

  const builder = program.addGroup('builder', 'settings of a builder');
  addBuilderPrivacyCommands(builder);
  const setLogo = 'set the company logo to an image file';
  builder.addRegional('set-logo <builder> <file>', setLogo, [], async (context, _options, id, file) => {
    const request = { builder: id!, file: resolve(file!) };
    const data = await setBuilderLogo(context, await openStorage(program.io, context), request);
    return { data, text: `${data.builderId} has a new logo (${data.contentType}).` };
  });
  const settings = [option('--time-zone <name>', "IANA name, such as Australia/Perth; `default` for the region's")];
  const update = 'change settings of a builder; those that are not given stay as they are';
  builder.addRegional('update <builder>', update, settings, async (context, { timeZone }, id) => {
    const data = await updateBuilder(context, id!, { timeZone: timeZone === 'default' ? null : timeZone });
    return { data, text: `${data.builderId} ${data.changed ? 'is now' : 'was already'} in ${data.timeZone}.` };
  });
}

/** Adds the command for the renditions of photos. */
function addRenditionCommands(group: CommandGroup): void {
  const retry = 'have the service render the photos again that could not be rendered';
  group.addRegional('retry', retry, [], async ({ database }) => {
    const queued = await retryRenditions(database);
    return { data: { queued }, text: `${queued} photos are rendered by the service now.` };
  });
}

/** Adds `user set-picture` to the group of user commands. */
export function addPictureCommand(users: CommandGroup): void {
  const setPicture = 'set the profile picture to an image file';
  users.addRegional('set-picture <user> <file>', setPicture, [], async (context, _options, user, file) => {
    const request = { user: user!, file: resolve(file!) };
    const data = await setUserPicture(context, await openStorage(users.io, context), request);
    return { data, text: `${data.email} (${data.userId}) has a new picture (${data.contentType}).` };
  });
}
