import type { Message } from './mailer.ts';

/** A link for choosing a password. */
interface PasswordLinkContent {
  name: string;
  email: string;
  /** Complete address. */
  link: string;
  /** Hours for which it can be used. */
  hours: number;
}

/** Returns the message with a link that an operator or the user requested. */
export const createPasswordLinkMessage = ({ name, email, link, hours }: PasswordLinkContent): Message => ({
  to: email,
  subject: 'Choose your password for Builder Integration',
  text: `Hello ${name},

choose a password for your account ${email} here:

${link}

The link works once, within ${hours} hours. Choosing a password signs you out everywhere.

If you did not expect this message, ignore it: nothing changes without the link. Do not forward it.
`,
});
