import { loadConfig } from '../../config.ts';
import { LINK_HOURS, type NewPasswordLink } from '../../domain/access/password-links.ts';
import { createMailer } from '../../mail/mailer.ts';
import { createPasswordLinkMessage } from '../../mail/password-link-message.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io/cli-io.ts';

/**
 * Creates a one-time link and sends it by e-mail; without SMTP_URL, or with `print`, it is returned instead. A link that could not be
 * sent expires unused.
 */
export async function sendPasswordLink(
  io: CliIo,
  { print }: { print: boolean },
  createLink: (emailed: boolean) => Promise<NewPasswordLink>,
) {
  const { baseUrl, mail } = loadConfig(io.env);
  const emailed = mail !== null && !print;
  const { path, ...link } = await createLink(emailed);
  const address = `${baseUrl}${path}`;
  if (!emailed) return { ...link, emailed, link: address };
  const mailer = createMailer(mail);
  try {
    await mailer.send(createPasswordLinkMessage({ ...link, link: address, hours: LINK_HOURS }));
  } catch (error) {
    throw CliError.forOption('SMTP_URL', `the message was not accepted: ${(error as Error).message}`);
  } finally {
    mailer.close();
  }
  return { ...link, emailed, link: null };
}
