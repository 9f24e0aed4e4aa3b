import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Instance } from '../proof/instance.ts';
import { swiftMissing } from '../support/swift.ts';
import { BASE_URL, residentMib, type Store, watchResidentMib, withInstance } from './instance-site.ts';
import { markdown } from './table.ts';

const UPLOADS = 20;
const SIZE = 41_943_040;
const LIMIT_MIB = 300;

interface StoreFigures {
  store: Store;
  /** MiB of resident memory before. */
  idle: number;
  /** By the way the bytes went: the most MiB of resident memory, and how often each status came. */
  ways: Record<string, { peak: number; statuses: Record<string, number> }>;
}

/**
 * Resident memory of one instance while it takes 20 uploads of 40 MiB at once, each way there is, and then gives them all
 * away at once: with the local store and with an S3 server, which is left out where there is none.
 */
export async function uploads(options: { stores?: Store[]; say?: (line: string) => void } = {}) {
  const { stores = ['local', 's3'], say = () => {} } = options;
  const figures: StoreFigures[] = [];
  for (const store of stores) {
    if (store === 's3' && swiftMissing) say(`*** Uploads to S3 are NOT measured: ${swiftMissing} ***`);
    else figures.push(await measure(store));
  }
  const holds = figures.every(({ ways }) => Object.values(ways).every(({ peak }) => peak < LIMIT_MIB));
  return { uploads: UPLOADS, sizeMib: SIZE / 2 ** 20, limitMib: LIMIT_MIB, holds, figures };
}

/** The figures as a Markdown table. */
export function uploadsTable({
  uploads: count,
  sizeMib,
  limitMib,
  figures,
}: Awaited<ReturnType<typeof uploads>>): string {
  const rows = figures.flatMap(({ store, idle, ways }) =>
    Object.entries(ways).map(([way, { peak }]) => [store, way, String(idle), String(peak), String(limitMib)]),
  );
  const header = ['store', 'way', 'at rest, MiB', 'most, MiB', 'limit, MiB'];
  return `\n${markdown(header, rows)}\n\nResident memory of one instance; ${count} uploads or downloads of ${sizeMib} MiB at once.\n`;
}

const measure = (store: Store): Promise<StoreFigures> =>
  withInstance(store, async ({ instance, token, builderId }) => {
    const path = `/builders/${builderId}/attachments`;
    const idle = await residentMib(instance.pid);
    const urls: string[] = [];
    const ways: StoreFigures['ways'] = {};
    const go = async (way: string, send: () => Promise<number>) => {
      const watched = watchResidentMib(instance.pid);
      // The watch ends before the instance does, also when a request fails.
      const statuses = await atOnce(send).finally(watched);
      ways[way] = { peak: await watched(), statuses };
    };
    await go('multipart', () => sendForm(instance, `${path}/upload`, token, urls));
    // A signed URL of S3 leads to the server there, and past the service.
    if (store === 'local') await go('signed', () => sendSigned(instance, `${path}/presign`, token));
    await go('downloads', () => download(urls.pop()!.replace(BASE_URL, instance.origin)));
    return { store, idle, ways };
  });

/** Statuses of that many at once, and how often each came. */
async function atOnce(send: () => Promise<number>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const status of await Promise.all(Array.from({ length: UPLOADS }, send)))
    counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Sends a form; the URL in its answer joins the others. */
async function sendForm(instance: Instance, path: string, token: string, urls: string[]): Promise<number> {
  const part = (name: string, more: string) => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const head = `${part('type', '')}attachment\r\n${part('file', '; filename="a.jpg"\r\nContent-Type: image/jpeg')}`;
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'multipart/form-data; boundary=b' };
  const tail = Buffer.from('\r\n--b--\r\n');
  const { status, body } = await stream(instance, 'POST', path, headers, Buffer.from(head), tail);
  if (status === 201) urls.push((JSON.parse(body) as { imageUrl: string }).imageUrl);
  return status;
}

async function sendSigned(instance: Instance, path: string, token: string): Promise<number> {
  const answer = await fetch(`${instance.origin}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ contentType: 'image/jpeg', fileName: 'a.jpg', size: SIZE, type: 'attachment' }),
  });
  const { uploadUrl } = (await answer.json()) as { uploadUrl: string };
  const { pathname, search } = new URL(uploadUrl);
  const headers = { 'Content-Type': 'image/jpeg', 'Content-Length': String(SIZE) };
  const none = Buffer.alloc(0);
  return (await stream(instance, 'PUT', `${pathname}${search}`, headers, none, none)).status;
}

/** The status of a download that had all its bytes, 0 of one that had not. */
async function download(url: string): Promise<number> {
  const answer = await fetch(url);
  let size = 0;
  for await (const chunk of answer.body!) size += chunk.length;
  return size === SIZE ? answer.status : 0;
}

const BLOCK = randomBytes(2 ** 20);

function stream(
  { origin }: Instance,
  method: string,
  path: string,
  headers: Record<string, string>,
  head: Buffer,
  tail: Buffer,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, headers, agent: false }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode!, body }), reject);
    });
    sent.on('error', reject);
    if (head.length > 0) sent.write(head);
    let left = SIZE;
    const more = () => {
      while (left > 0) {
        left -= BLOCK.length;
        if (!sent.write(BLOCK)) return;
      }
      sent.off('drain', more);
      sent.end(tail);
    };
    sent.on('drain', more);
    more();
  });
}

if (import.meta.main) {
  const report = await uploads({ say: (line) => process.stderr.write(`${line}\n`) });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exit(report.holds ? 0 : 1);
}
