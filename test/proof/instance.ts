import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { fileURLToPath } from 'node:url';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from '../support/exit-with-parent.ts';
import { freePort } from '../support/ports.ts';

const PROGRAM = fileURLToPath(
  new URL('../../dist/src/server.js', import.meta.url).href.replace('/dist/dist/', '/dist/'),
);

/** Flags of Node, as `npm start` sets them. */
const FLAGS = ['--max-old-space-size=400', '--max-semi-space-size=16'];

/** One process of the built service, without a supervisor, on a fixed port. */
export class Instance {
  readonly origin: string;
  readonly #env: Record<string, string>;
  readonly #flags: string[];
  readonly #program: string;
  #child: ChildProcess | null = null;
  #isStopping = false;
  #output = '';
  /** Number of attempts of the last start. */
  attempts = 0;

  private constructor(port: number, env: Record<string, string>, flags: string[], program: string) {
    this.#flags = flags;
    this.#program = program;
    this.origin = `${env.TLS_CERT ? 'https' : 'http'}://127.0.0.1:${port}`;
    this.#env = { PATH: process.env.PATH!, HOST: '127.0.0.1', PORT: String(port), WORKERS: '1', ...env };
  }

  /**
   * @param env Settings; without PORT it listens on a free port.
   * @param flags Flags of Node in addition to those of `npm start`.
   * @param program Path of the program of another release; this one by default.
   */
  static async start(env: Record<string, string>, flags: string[] = [], program = PROGRAM): Promise<Instance> {
    const instance = new Instance(Number(env.PORT ?? (await freePort())), env, flags, program);
    await instance.start();
    return instance;
  }

  /**
   * Starts the process and waits for a response. A start that fails, as while the database is down, is repeated. An unexpected exit of a
   * started process is thrown as an uncaught exception, because clients would otherwise retry without end.
   */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#output = '';
      this.attempts = attempt;
      const args = [...EXIT_WITH_PARENT, ...FLAGS, ...this.#flags, this.#program];
      const child = spawn(process.execPath, args, { env: this.#env, stdio: STDIO_WITH_PARENT });
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.#output += chunk));
      this.#child = child;
      while (child.exitCode === null && child.signalCode === null) {
        if ((await this.#isResponding()) && this.isRunning) {
          this.#isStopping = false;
          child.once('exit', (code, signal) => this.#checkExit(code, signal));
          return;
        }
        await new Promise((done) => setTimeout(done, 30));
      }
      if (attempt === 40) throw new Error(`The service does not start: ${this.#output}`);
      await new Promise((done) => setTimeout(done, 250));
    }
  }

  /** Output since the last start. */
  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Kills the process (SIGKILL); its requests are lost. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the process (SIGTERM), which completes its requests. Returns its exit code; null if a signal ended it. */
  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  get isRunning(): boolean {
    const child = this.#child;
    return child !== null && child.exitCode === null && child.signalCode === null;
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#child;
    if (!child || !this.isRunning) return child?.exitCode ?? null;
    this.#isStopping = true;
    const ended = once(child, 'exit');
    child.kill(signal);
    const [code] = await ended;
    return code as number | null;
  }

  #checkExit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isStopping) return;
    throw new Error(`The service of ${this.origin} exited by itself (${signal ?? code}): ${this.#output}`);
  }

  #isResponding(): Promise<boolean> {
    const { get } = this.origin.startsWith('https') ? https : http;
    // The certificate of a proof is signed by itself.
    const options = { rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(1_000) };
    return new Promise((resolve) => {
      get(`${this.origin}/health/live`, options, (response) => resolve(response.resume().statusCode === 200)).on(
        'error',
        () => resolve(false),
      );
    });
  }
}
