import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

interface ReceivedMessage {
  /** Recipients of the envelope. */
  to: string[];
  from: string;
  /** Complete message as received. */
  source: string;
  /** Text with the transfer encoding removed. */
  text: string;
}

export interface MailServer {
  url: string;
  messages: ReceivedMessage[];
  /** Whether the server responds to every message with a temporary error, whose text reorders the line. */
  isFailing: boolean;
  /** Whether the server rejects every recipient, or this one, with a message that quotes the address. */
  isRejecting: boolean | string;
  close(): Promise<void>;
}

/** Starts a real SMTP server that requires the user `mail` with the password `mail-password` and keeps what it receives. */
export async function startMailServer(): Promise<MailServer> {
  const messages: ReceivedMessage[] = [];
  const state = { failing: false, rejecting: false as boolean | string };
  const server = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'mail' && password === 'mail-password' ? done(null, { user: username }) : done(new Error('No.')),
    onRcptTo: ({ address }, _session, done) =>
      state.rejecting === true || state.rejecting === address
        ? done(Object.assign(new Error(`No mailbox ${address}.`), { responseCode: 550 }))
        : done(),
    onData: async (stream, { envelope }, done) => {
      const source = await text(stream);
      if (state.failing) return done(Object.assign(new Error('Try again later.\u202e'), { responseCode: 451 }));
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
      messages.push({ to: envelope.rcptTo.map(({ address }) => address), from, source, text: decodeBody(source) });
      done();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://mail:mail-password@127.0.0.1:${port}`,
    messages,
    get isFailing() {
      return state.failing;
    },
    set isFailing(value) {
      state.failing = value;
    },
    get isRejecting() {
      return state.rejecting;
    },
    set isRejecting(value) {
      state.rejecting = value;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

function decodeBody(source: string): string {
  const body = source.slice(source.indexOf('\r\n\r\n') + 4);
  if (/^Content-Transfer-Encoding: base64/im.test(source)) return Buffer.from(body, 'base64').toString('utf8');
  if (!/^Content-Transfer-Encoding: quoted-printable/im.test(source)) return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Returns the link of a message, as path and query. */
export function extractLink(message: ReceivedMessage): string {
  const [link] = /http\S+\/account\/password\?\S+/.exec(message.text)!;
  const { pathname, search } = new URL(link!);
  return pathname + search;
}
