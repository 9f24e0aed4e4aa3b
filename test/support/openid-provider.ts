import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
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

/** An OpenID Connect provider in a process of its own. */
export class RunningProvider {
  #process: ChildProcess | null = null;
  #key = generateKey();

  constructor(
    readonly port: number,
    readonly accounts: ProviderAccounts,
  ) {}

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Signs with another key after the next start. */
  rotateKeys(): void {
    this.#key = generateKey();
  }

  /** Starts it. @param wrongBy milliseconds by which its clock is wrong */
  async start(wrongBy = 0): Promise<void> {
    const given = [
      String(this.port),
      String(wrongBy),
      `${BASE_URL}/console/sign-in/callback`,
      JSON.stringify(this.accounts),
      JSON.stringify(this.#key),
    ];
    this.#process = spawn(process.execPath, [...EXIT_WITH_PARENT, PROGRAM, ...given], { stdio: STDIO_WITH_PARENT });
    this.#process.stderr!.resume();
    for await (const line of createInterface(this.#process.stdout!)) if (line === 'ready') return;
    throw new Error('The provider has ended.');
  }

  async stop(): Promise<void> {
    const { exitCode } = this.#process!;
    if (exitCode === null && this.#process!.kill('SIGKILL')) await once(this.#process!, 'exit');
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
