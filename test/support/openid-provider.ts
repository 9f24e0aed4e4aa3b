import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from './exit-with-parent.ts';
import { BASE_URL } from './harness.ts';

const PROGRAM = join(import.meta.dirname, 'openid-provider-program.ts');

/** Accounts of the provider by `sub`, which is also what they sign in with. */
export type ProviderAccounts = Record<string, { email: string; email_verified: boolean }>;

const generateKey = () => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid: randomUUID(),
});

/** What a provider starts with. */
export interface ProviderState {
  accounts: ProviderAccounts;
  key: ReturnType<typeof generateKey>;
  /** Milliseconds by which its clock is wrong. */
  wrongBy: number;
}

/** An OpenID Connect provider in a process of its own, which has a clock of its own. */
export class RunningProvider {
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #key = generateKey();

  constructor(
    readonly port: number,
    readonly accounts: ProviderAccounts,
  ) {
    const args = [...EXIT_WITH_PARENT, PROGRAM, String(port), `${BASE_URL}/console/sign-in/callback`];
    this.#process = spawn(process.execPath, args, { stdio: STDIO_WITH_PARENT });
    this.#process.stderr!.resume();
    this.#answers = createInterface(this.#process.stdout!)[Symbol.asyncIterator]();
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Signs with another key after the next start. */
  rotateKeys(): void {
    this.#key = generateKey();
  }

  /**
   * Starts it, or starts it again with the accounts and the key of now.
   *
   * @param wrongBy milliseconds by which its clock is wrong
   */
  start = (wrongBy = 0) => this.#send({ accounts: this.accounts, key: this.#key, wrongBy });

  /** Closes its port and every connection. */
  stop = () => this.#send(null);

  /** Ends its process. */
  end(): void {
    this.#process.kill('SIGKILL');
  }

  async #send(state: ProviderState | null): Promise<void> {
    this.#process.stdin!.write(`${JSON.stringify(state)}\n`);
    for (;;) {
      const { done, value } = await this.#answers.next();
      if (done) throw new Error('The provider has ended.');
      // The library writes its warnings to standard output too.
      if (value === 'done') return;
    }
  }

  /** Signs in as a browser does, and returns the address to which the provider redirects. */
  async signIn(url: string, account: string): Promise<string> {
    const cookies = new Map<string, string>();
    let next = new URL(url);
    let body: string | undefined;
    for (let count = 0; count < 8; count++) {
      const response = await fetch(next, {
        redirect: 'manual',
        ...(body !== undefined && { method: 'POST', body }),
        headers: {
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        },
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
        cookies.set(name!, value!);
      }
      const location = response.headers.get('location');
      const text = await response.text();
      body =
        location === null
          ? new URLSearchParams({ prompt: 'login', login: account, password: 'any' }).toString()
          : undefined;
      next = new URL(location ?? /action="([^"]+)"/.exec(text)![1]!, next);
      if (next.origin !== this.issuer) return next.href;
    }
    throw new Error('The provider does not lead back.');
  }
}
