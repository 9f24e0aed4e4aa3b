import { ImageHost } from '../../../entities/image-host.entity.ts';
import { refuse } from '../cli-error.ts';
import { inTransaction, type Place } from './command-context.ts';

const HOST = /^(?=.{1,253}(:|$))([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](:\d{1,5})?$/;

/** Lets photos be made of images on that host, over HTTPS (UPL-25). */
export function approveImageHost(place: Place, name: string) {
  const host = hostName(name);
  return inTransaction(place, async (em, now) => {
    const known = await em.count(ImageHost, { host });
    await em.upsert(ImageHost, { host, createdAt: now }, { onConflictAction: 'ignore' });
    return { host, changed: known === 0 };
  });
}

export function revokeImageHost(place: Place, name: string) {
  const host = hostName(name);
  return inTransaction(place, async (em) => ({ host, changed: (await em.nativeDelete(ImageHost, { host })) > 0 }));
}

export function listImageHosts(place: Place) {
  return inTransaction(place, async (em) => {
    const hosts = await em.find(ImageHost, {}, { orderBy: { host: 'asc' } });
    return { hosts: hosts.map(({ host, createdAt }) => ({ host, createdAt })) };
  });
}

/** A name, never an address: with its port where that is not 443. */
function hostName(text: string): string {
  const host = text.toLowerCase().replace(/:443$/, '');
  if (!HOST.test(host)) refuse('HOST', `"${text}" is not the name of a host, such as images.example.com`);
  return host;
}
