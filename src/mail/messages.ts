import type { Message } from './mailer.ts';

const CHANGES = {
  password: 'The password of your account was changed, and you were signed out everywhere.',
  email: 'The e-mail address of your account was changed. You sign in with the new one.',
};

/** Returns the name as a greeting has it: an imported one may have lines that would read like parts of the message. */
const toGreeting = (name: string) => `Hello ${name.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 160)},`;

/** Returns the message about a change of an account that its owner may not have made. OAU-44. */
export const createAccountChangeMessage = (
  { name, email }: { name: string; email: string },
  change: keyof typeof CHANGES,
): Message => ({
  to: email,
  subject: 'Your account for Builder Integration was changed',
  text: `${toGreeting(name)}

${CHANGES[change]}

If you did not expect this, tell the operator of the service at once.
`,
});

/** Returns the messages about a changed e-mail address, to the earlier and the new one; none where it is the same. */
export const createAddressChangeMessages = (user: { name: string; email: string; previousEmail: string }): Message[] =>
  user.previousEmail === user.email
    ? []
    : [user.previousEmail, user.email].map((email) => createAccountChangeMessage({ name: user.name, email }, 'email'));

/** Returns the message with a link for choosing a password, that an operator or the user requested. @param user.link complete address */
export const createPasswordLinkMessage = ({
  name,
  email,
  link,
  hours,
}: Record<'name' | 'email' | 'link', string> & { hours: number }): Message => ({
  to: email,
  subject: 'Choose your password for Builder Integration',
  text: `${toGreeting(name)}

choose a password for your account ${email} here:

${link}

The link works once, within ${hours} hours. Choosing a password signs you out everywhere.

If you did not expect this message, ignore it: nothing changes without the link. Do not forward it.
`,
});
