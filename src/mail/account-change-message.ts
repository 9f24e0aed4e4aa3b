import type { Message } from './mailer.ts';

const CHANGES = {
  password: 'The password of your account was changed, and you were signed out everywhere.',
  email: 'The e-mail address of your account was changed. You sign in with the new one.',
};

/** Returns the message about a change of an account that its owner may not have made. OAU-44. */
export const createAccountChangeMessage = (
  { name, email }: { name: string; email: string },
  change: keyof typeof CHANGES,
): Message => ({
  to: email,
  subject: 'Your account for Builder Integration was changed',
  text: `Hello ${name},

${CHANGES[change]}

If you did not expect this, tell the operator of the service at once.
`,
});

/** Returns the messages about a changed e-mail address, to the earlier and the new one; none where it is the same. */
export const createAddressChangeMessages = (user: { name: string; email: string; previousEmail: string }): Message[] =>
  user.previousEmail === user.email
    ? []
    : [user.previousEmail, user.email].map((email) => createAccountChangeMessage({ name: user.name, email }, 'email'));
