import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Instance } from '../proof/instance.ts';
import { swiftUnavailableReason } from '../support/swift.ts';
import {
  BASE_URL,
  readTreeResidentMib,
  type Store,
  trackPeakResidentMib,
  withInstance,
} from './instance-environment.ts';
import { toMarkdownTable } from './markdown-table.ts';

const UPLOADS = 20;
const UPLOAD_BYTES = 41_943_040;
const LIMIT_MIB = 300;

/** Figures of one store. The keys are those of `--json`. */
interface StoreFigures {
  store: Store;
  /** Resident memory in MiB before the transfers. */
  idle: number;
  /** By kind of transfer: the maximum resident memory in MiB, and the number of responses by status. */
  ways: Record<string, { peak: number; statuses: Record<string, number> }>;
}

/**
 * Measures the resident memory of one instance during 20 concurrent uploads of 40 MiB of each kind, and then 20 concurrent downloads, with
 * the local store and with S3. S3 is skipped where Swift is not available.
 */
export async function measureUploads(options: { stores?: Store[]; log?: (line: string) => void } = {}) {
  const { stores = ['local', 's3'], log = () => {} } = options;
  const figures: StoreFigures[] = [];
  for (const store of stores) {
    if (store === 's3' && swiftUnavailableReason)
      log(`*** Uploads to S3 are NOT measured: ${swiftUnavailableReason} ***`);
    else figures.push(await measure(store));
  }
  const holds = figures.every(({ ways }) => Object.values(ways).every(({ peak }) => peak < LIMIT_MIB));
  return { uploads: UPLOADS, sizeMib: UPLOAD_BYTES / 2 ** 20, limitMib: LIMIT_MIB, holds, figures };
}

/** Returns the figures as a Markdown table. */
export function toUploadsTable({
  uploads: count,
  sizeMib,
  limitMib,
  figures,
}: Awaited<ReturnType<typeof measureUploads>>): string {
  const rows = figures.flatMap(({ store, idle, ways }) =>
    Object.entries(ways).map(([way, { peak }]) => [store, way, String(idle), String(peak), String(limitMib)]),
  );
  const header = ['store', 'way', 'at rest, MiB', 'most, MiB', 'limit, MiB'];
  return `\n${toMarkdownTable(header, rows)}\n\nResident memory of one instance; ${count} uploads or downloads of ${sizeMib} MiB at once.\n`;
}

const measure = (store: Store): Promise<StoreFigures> =>
  withInstance(store, async ({ instance, token, builderId }) => {
    const path = `/builders/${builderId}/attachments`;
    const idle = await readTreeResidentMib(instance.pid);
    const urls: string[] = [];
    const ways: StoreFigures['ways'] = {};
    const measureTransfers = async (way: string, send: () => Promise<number>) => {
      const stopTracking = trackPeakResidentMib(instance.pid);
      // Sampling must stop before the instance does, even when a request fails.
      const statuses = await countStatuses(send).finally(stopTracking);
      ways[way] = { peak: await stopTracking(), statuses };
    };
    await measureTransfers('multipart', () => sendForm(instance, `${path}/upload`, token, urls));
    // A signed URL of S3 refers to the S3 server, so that its bytes do not pass the service.
    if (store === 'local') await measureTransfers('signed', () => sendSigned(instance, `${path}/presign`, token));
    await measureTransfers('downloads', () => download(urls.pop()!.replace(BASE_URL, instance.origin)));
    return { store, idle, ways };
  });

/** Sends all requests at once and returns the number of responses by status. */
async function countStatuses(send: () => Promise<number>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const status of await Promise.all(Array.from({ length: UPLOADS }, send)))
    counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Uploads a multipart form, adds the URL of the response to `urls` and returns the status. */
async function sendForm(instance: Instance, path: string, token: string, urls: string[]): Promise<number> {
  const toPartHeader = (name: string, extraHeaders: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${extraHeaders}\r\n\r\n`;
  const head = `${toPartHeader('type', '')}attachment\r\n${toPartHeader('file', '; filename="a.jpg"\r\nContent-Type: image/jpeg')}`;
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'multipart/form-data; boundary=b' };
  const tail = Buffer.from('\r\n--b--\r\n');
  const { status, body } = await sendBytes(instance, 'POST', path, headers, Buffer.from(head), tail);
  if (status === 201) urls.push((JSON.parse(body) as { imageUrl: string }).imageUrl);
  return status;
}

/** Requests a signed URL, uploads to it and returns the status. */
async function sendSigned(instance: Instance, path: string, token: string): Promise<number> {
  const response = await fetch(`${instance.origin}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ contentType: 'image/jpeg', fileName: 'a.jpg', size: UPLOAD_BYTES, type: 'attachment' }),
  });
  const { uploadUrl } = (await response.json()) as { uploadUrl: string };
  const { pathname, search } = new URL(uploadUrl);
  const headers = { 'Content-Type': 'image/jpeg', 'Content-Length': String(UPLOAD_BYTES) };
  const empty = Buffer.alloc(0);
  return (await sendBytes(instance, 'PUT', `${pathname}${search}`, headers, empty, empty)).status;
}

/** Downloads a file and returns the status; 0 where it is incomplete. */
async function download(url: string): Promise<number> {
  const response = await fetch(url);
  let size = 0;
  for await (const chunk of response.body!) size += chunk.length;
  return size === UPLOAD_BYTES ? response.status : 0;
}

const BLOCK = randomBytes(2 ** 20);

/** Sends a request with `UPLOAD_BYTES` random bytes between head and tail. */
function sendBytes(
  { origin }: Instance,
  method: string,
  path: string,
  headers: Record<string, string>,
  head: Buffer,
  tail: Buffer,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const upload = request(`${origin}${path}`, { method, headers, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode!, body }), reject);
    });
    upload.on('error', reject);
    if (head.length > 0) upload.write(head);
    let remainingBytes = UPLOAD_BYTES;
    const writeBlocks = () => {
      while (remainingBytes > 0) {
        remainingBytes -= BLOCK.length;
        if (!upload.write(BLOCK)) return;
      }
      upload.off('drain', writeBlocks);
      upload.end(tail);
    };
    upload.on('drain', writeBlocks);
    writeBlocks();
  });
}

if (import.meta.main) {
  const report = await measureUploads({ log: (line) => process.stderr.write(`${line}\n`) });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exit(report.holds ? 0 : 1);
}
