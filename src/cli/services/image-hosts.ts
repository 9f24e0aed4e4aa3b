import { ImageHost } from '../../../entities/image-host.entity.ts';
import { CliError } from '../cli-error.ts';
import { type CommandContext, inTransaction } from './command-context.ts';

const HOST = /^(?=.{1,253}(:|$))([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](:\d{1,5})?$/;

/** Approves a host: `imageUrl` may then refer to its images, over HTTPS. UPL-25. */
export function approveImageHost(context: CommandContext, name: string) {
  const host = parseHostName(name);
  return inTransaction(context, async (em, now) => {
    const known = await em.count(ImageHost, { host });
    await em.upsert(ImageHost, { host, createdAt: now }, { onConflictAction: 'ignore' });
    return { host, changed: known === 0 };
  });
}

export function revokeImageHost(context: CommandContext, name: string) {
  const host = parseHostName(name);
  return inTransaction(context, async (em) => ({ host, changed: (await em.nativeDelete(ImageHost, { host })) > 0 }));
}

export function listImageHosts(context: CommandContext) {
  return inTransaction(context, async (em) => {
    const hosts = await em.find(ImageHost, {}, { orderBy: { host: 'asc' } });
    return { hosts: hosts.map(({ host, createdAt }) => ({ host, createdAt })) };
  });
}

/** Returns the host name in lower case, with the port unless it is 443. IP addresses are not accepted. */
function parseHostName(text: string): string {
  const host = text.toLowerCase().replace(/:443$/, '');
  if (!HOST.test(host))
    throw CliError.forOption('HOST', `"${text}" is not the name of a host, such as images.example.com`);
  return host;
}
