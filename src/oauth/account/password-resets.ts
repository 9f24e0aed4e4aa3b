import type { AuditOrigin } from '../../../entities/audit-entry.entity.ts';
import type { Databases } from '../../database/database.ts';
import {
  deletePasswordLink,
  LINK_HOURS,
  type NewPasswordLink,
  requestPasswordReset,
} from '../../domain/access/password-links.ts';
import type { MailQueue } from '../../mail/mail-queue.ts';
import type { Mailer, Message } from '../../mail/mailer.ts';
import { createPasswordLinkMessage } from '../../mail/messages.ts';
import type { Clock } from '../../shared/clock.ts';
import { REGIONS } from '../../shared/regions.ts';

interface Dependencies {
  databases: Databases;
  clock: Clock;
  baseUrl: string;
  mailer: Mailer;
  queue: MailQueue;
}

/**
 * Sends messages about accounts, and links for choosing a password, after the response, so that neither its content nor its duration reveals
 * whether there is an account. OAU-45.
 */
export class PasswordResets {
  constructor(readonly dependencies: Dependencies) {}

  /** Queues a message to a user about the user's account. */
  notify(message: Message): void {
    const { queue, mailer } = this.dependencies;
    queue.add(() => mailer.send(message));
  }

  /**
   * Queues the request for a link, of a person who may or may not have an account. Returns false when the queue is full.
   *
   * @param email As typed.
   */
  add(email: string, origin: AuditOrigin): boolean {
    const { queue, mailer, databases, clock, baseUrl } = this.dependencies;
    const source = { actor: { type: 'USER' as const, id: null }, origin };
    return REGIONS.map((region) => {
      const context = { database: databases[region], clock, source };
      // Created once: another attempt sends the same link.
      let link: NewPasswordLink | null | undefined;
      const send = async () => {
        if (link === undefined) link = await requestPasswordReset(context, email);
        if (!link) return;
        await mailer.send(createPasswordLinkMessage({ ...link, link: `${baseUrl}${link.path}`, hours: LINK_HOURS }));
      };
      return queue.add(send, async () => link && deletePasswordLink(context, link));
    }).every(Boolean);
  }
}
