import { ImageHost } from '../../../entities/image-host.entity.ts';
import { type ChangeContext, inTransaction } from '../change-context.ts';
import { InvalidInputError } from './invalid-input-error.ts';

const HOST = /^(?=.{1,253}(:|$))([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](:\d{1,5})?$/;

/** Approves a host: `imageUrl` may then refer to its images, over HTTPS. UPL-25. */
export function approveImageHost(context: ChangeContext, name: string) {
  const host = parseHostName(name);
  return inTransaction(context, async (em, now, record) => {
    const insert = em.createQueryBuilder(ImageHost).insert({ host, createdAt: now }).onConflict().ignore();
    const changed = (await insert.execute('run')).affectedRows > 0;
    if (changed) await record({ action: 'image_host.approved', objectId: host, after: { host } });
    return { host, changed };
  });
}

export function revokeImageHost(context: ChangeContext, name: string) {
  const host = parseHostName(name);
  return inTransaction(context, async (em, _now, record) => {
    const changed = (await em.nativeDelete(ImageHost, { host })) > 0;
    if (changed) await record({ action: 'image_host.revoked', objectId: host, before: { host } });
    return { host, changed };
  });
}

/** Returns the host name in lower case, with the port unless it is 443. IP addresses are not accepted. */
function parseHostName(text: string): string {
  const host = text.toLowerCase().replace(/:443$/, '');
  if (!HOST.test(host))
    throw new InvalidInputError('host', `"${text}" is not the name of a host, such as images.example.com`);
  return host;
}
