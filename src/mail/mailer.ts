import { type Config, isLoopback } from '../config.ts';

/** A plain-text message. */
export interface Message {
  to: string;
  subject: string;
  text: string;
}

/** Sends e-mail to one recipient. */
export interface Mailer {
  /** Resolves when the server has accepted the message. */
  send(message: Message): Promise<void>;
  close(): void;
}

/** Time limits in milliseconds, so that an unresponsive server does not hold up the queue. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/** Returns what the log may contain of an error: messages of mail servers and databases quote addresses. */
export function describeMailError(error: unknown): object {
  const { name, code, command, responseCode } = error as Record<string, unknown>;
  return { type: name, code, command, responseCode };
}

/** Creates a mailer for an SMTP server. The text is sent as it is; addresses are not parsed for several recipients. */
export async function createMailer({ url, from }: NonNullable<Config['mail']>): Promise<Mailer> {
  // Most starts need no mail server, and the library is a large one.
  const { createTransport } = await import('nodemailer');
  // Without TLS, the network between the service and the server could read the links. On loopback there is none.
  const requireTLS = !isLoopback(new URL(url).hostname);
  const transport = createTransport({ url, ...TIMEOUTS, requireTLS, disableFileAccess: true, disableUrlAccess: true });
  return {
    send: async ({ to, subject, text }) => {
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
    },
    close: () => transport.close(),
  };
}
