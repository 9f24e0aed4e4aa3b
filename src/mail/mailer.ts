import { createTransport } from 'nodemailer';

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

/** Settings of outgoing e-mail. */
export interface MailSettings {
  /** `smtp:` (upgraded to TLS where the server offers it) or `smtps:`, with credentials. */
  url: string;
  /** Sender. */
  from: string;
}

/** Time limits in milliseconds, so that an unresponsive server does not hold up the queue. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/** Creates a mailer for an SMTP server. The text is sent as it is; addresses are not parsed for several recipients. */
export function createMailer({ url, from }: MailSettings): Mailer {
  const transport = createTransport({ url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true });
  return {
    send: async ({ to, subject, text }) => {
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
    },
    close: () => transport.close(),
  };
}
