import type { Databases } from '../../database/database.ts';
import { LINK_HOURS, requestPasswordReset } from '../../domain/access/password-links.ts';
import type { MailQueue } from '../../mail/mail-queue.ts';
import type { Mailer, Message } from '../../mail/mailer.ts';
import { createPasswordLinkMessage } from '../../mail/password-link-message.ts';
import type { Clock } from '../../shared/clock.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';

/** A request for a link, of a person who may or may not have an account. */
interface PasswordResetRequest {
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
    const { queue, mailer } = this.#dependencies;
    return REGIONS.map((region) => {
      // Created once: another attempt sends the same link.
      let message: Message | null | undefined;
      return queue.add(async () => {
        if (message === undefined) message = await this.#createMessage(region, request);
        if (message) await mailer.send(message);
      });
    }).every(Boolean);
  }

  async #createMessage(region: RegionId, { email, address, requestId }: PasswordResetRequest): Promise<Message | null> {
    const { databases, clock, baseUrl } = this.#dependencies;
    const source = { actor: { type: 'USER' as const, id: null }, origin: { address, requestId } };
    const context = { database: databases[region], clock, source };
    const link = await requestPasswordReset(context, email.trim().toLowerCase());
    return link && createPasswordLinkMessage({ ...link, link: `${baseUrl}${link.path}`, hours: LINK_HOURS });
  }
}
