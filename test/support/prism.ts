import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from './exit-with-parent.ts';
import { freePort } from './ports.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'node_modules', '@stoplight', 'prism-cli', 'dist', 'index.js');

/** A part of a request or response that the document does not allow. */
interface Violation {
  location: string[];
  message: string;
}

/** Starts Prism as a proxy of a service. It reports violations of the OpenAPI document in a header of the response. */
export async function startPrism(document: string, upstream: string): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'prism-'));
  await writeFile(join(folder, 'openapi.json'), document);
  const port = String(await freePort());
  const listen = ['--host', '127.0.0.1', '--port', port];
  const args = [...EXIT_WITH_PARENT, PROGRAM, 'proxy', join(folder, 'openapi.json'), upstream, ...listen];
  const prism = spawn(process.execPath, args, { stdio: STDIO_WITH_PARENT });
  let output = '';
  await new Promise<void>((ready, fail) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('listening')) ready();
    };
    prism.stdout.on('data', read);
    prism.stderr.on('data', read);
    prism.on('exit', () => fail(new Error(`Prism ended: ${output}`)));
  });
  const stop = async () => {
    prism.removeAllListeners('exit');
    const gone = once(prism, 'exit');
    prism.kill();
    await gone;
    await rm(folder, { recursive: true, force: true });
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

export const readViolations = (response: Response): Violation[] =>
  JSON.parse(response.headers.get('sl-violations') ?? '[]');

export const isResponseViolation = ({ location }: Violation) => location[0] === 'response';
