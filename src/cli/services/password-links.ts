import { loadConfig } from '../../config.ts';
import { deletePasswordLink, LINK_HOURS, type NewPasswordLink } from '../../domain/access/password-links.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { createMailer, type Message } from '../../mail/mailer.ts';
import { createPasswordLinkMessage } from '../../mail/messages.ts';
import { printText, toTerminalLine } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io/cli-io.ts';

/**
 * Creates a one-time link and sends it by e-mail; without SMTP_URL, or with `print`, it is returned instead. A link that could not be
 * sent is deleted.
 */
export async function sendPasswordLink(
  io: CliIo,
  context: ChangeContext,
  { print }: { print: boolean },
  createLink: (emailed: boolean) => Promise<NewPasswordLink>,
) {
  const { baseUrl, mail } = loadConfig(io.env);
  const emailed = mail !== null && !print;
  const created = await createLink(emailed);
  const { path, ...link } = created;
  const address = `${baseUrl}${path}`;
  if (!emailed) return { ...link, emailed, link: address };
  const mailer = await createMailer(mail);
  try {
    await mailer.send(createPasswordLinkMessage({ ...link, link: address, hours: LINK_HOURS }));
  } catch (error) {
    await deletePasswordLink(context, created);
    throw CliError.forOption('SMTP_URL', `the message was not accepted: ${(error as Error).message}`);
  } finally {
    mailer.close();
  }
  return { ...link, emailed, link: null };
}

/** Sends messages about a change that is committed, where there is a mail server. One that is not accepted is reported only. */
export async function sendMessages(io: CliIo, messages: readonly Message[]): Promise<void> {
  const { mail } = loadConfig(io.env);
  if (mail === null || messages.length === 0) return;
  const mailer = await createMailer(mail);
  for (const message of messages) {
    const error: (Error & { responseCode?: number }) | undefined = await mailer.send(message).catch((failed) => failed);
    if (error) printText(io.stderr, toTerminalLine(`The message to the user was not accepted: ${error.message}`));
    // A server that does not respond would delay each further message by its time limit.
    if (error && error.responseCode === undefined) break;
  }
  mailer.close();
}
