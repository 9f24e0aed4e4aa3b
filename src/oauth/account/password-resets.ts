import type { Databases } from '../../database/database.ts';
import { LINK_HOURS, requestPasswordReset } from '../../domain/access/password-links.ts';
import type { MailQueue } from '../../mail/mail-queue.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { passwordLinkMessage } from '../../mail/password-link-message.ts';
import type { Clock } from '../../shared/clock.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';

/** A request for a link, of a person who may or may not have an account. */
export interface PasswordResetRequest {
  /** As typed. */
  email: string;
  address: string;
  requestId: string;
}

interface Dependencies {
  databases: Databases;
  clock: Clock;
  baseUrl: string;
  mailer: Mailer;
  queue: MailQueue;
}

/** Sends links for choosing a password after the response, so that neither its content nor its time tells whether there is an account. OAU-45. */
export class PasswordResets {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Queues the request. Returns false when the queue is full. */
  add(request: PasswordResetRequest): boolean {
    const regions = REGIONS.map((region) => this.#dependencies.queue.add(() => this.#send(region, request)));
    return regions.every(Boolean);
  }

  async #send(region: RegionId, { email, address, requestId }: PasswordResetRequest): Promise<void> {
    const { databases, clock, baseUrl, mailer } = this.#dependencies;
    const source = { actor: { type: 'USER' as const, id: null }, origin: { address, requestId } };
    const context = { database: databases[region], clock, source };
    const link = await requestPasswordReset(context, email.trim().toLowerCase());
    if (link) await mailer.send(passwordLinkMessage({ ...link, link: `${baseUrl}${link.path}`, hours: LINK_HOURS }));
  }
}
