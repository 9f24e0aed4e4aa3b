import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { defaultRenderProcess, renderImage } from '../../src/images/render.ts';
import { createHeicGrid } from '../support/heic-grid.ts';
import { createSitePhoto } from '../support/site-photo.ts';
import {
  type InstanceEnvironment,
  readTreeResidentMib,
  trackPeakResidentMib,
  withInstance,
} from './instance-environment.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { readProcessorTime } from './processes.ts';

const PHOTOS = 20;
/** Size of a phone photo. */
const SIZE = { width: 4032, height: 3024 };
const ROUNDS = 7;
const LIMIT_CPU_MS = 1_000;

type Type = 'image/jpeg' | 'image/heic';

/** Measures the CPU time of a rendering by image type, and an instance that receives 20 photos at once. The keys are those of `--json`. */
export async function measureRenditions() {
  const photos: Record<Type, Buffer> = { 'image/jpeg': await createJpeg(), 'image/heic': await createHeic() };
  const costs = [];
  for (const [type, bytes] of Object.entries(photos))
    costs.push({ type, bytes: bytes.length, ...(await measureRendering(bytes)) });
  const arrival = await withInstance('local', (environment) => measureArrival(environment, photos));
  return { costs, arrival, holds: costs.every(({ cpuMs }) => cpuMs < LIMIT_CPU_MS) };
}

/** Returns the report as Markdown. */
export function toRenditionsTable({ costs, arrival }: Awaited<ReturnType<typeof measureRenditions>>): string {
  const header = ['photo', 'KiB', 'CPU, ms', 'limit, ms', 'renditions, KiB'];
  const rows = costs.map(({ type, bytes, cpuMs, renditionBytes }) => [
    ...[`${type}, ${SIZE.width} x ${SIZE.height}`, Math.round(bytes / 1024), cpuMs, LIMIT_CPU_MS],
    Math.round(renditionBytes / 1024),
  ]);
  const { perSecond, idleMib, peakMib, seconds } = arrival;
  return `
${toMarkdownTable(
  header,
  rows.map((row) => row.map(String)),
)}

CPU time of one process, all three sizes, median of ${ROUNDS}. The 48 tiles of the HEIC
are four that x265 encoded, in turn, with 8 bits and 4:2:0. ${PHOTOS} of these photos that arrive at once, half of each type, are
accepted and rendered within ${seconds} s: ${perSecond} photos per second, ${idleMib} MiB of resident memory before and at most ${peakMib} MiB.
`;
}

const createJpeg = async () =>
  sharp(await createSitePhoto(SIZE.width, SIZE.height))
    .jpeg({ quality: 90 })
    .toBuffer();

/** Tiles of `createSitePhoto`, encoded by `heif-enc -q 57 -p preset=medium`, so that the 48 tiles of a photo have the size of a phone photo. */
const TILES = [0, 1, 2, 3].map((index) => `test/fixtures/heic/site-${index}.heic`);

async function createHeic(): Promise<Buffer> {
  const tiles = await Promise.all(TILES.map((file) => readFile(file)));
  const sources = Array.from({ length: 48 }, (_, index) => tiles[index % tiles.length]!);
  return createHeicGrid(sources, { columns: 8, rows: 6, ...SIZE });
}

async function measureRendering(bytes: Buffer): Promise<{ cpuMs: number; renditionBytes: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  const path = join(folder, 'photo');
  try {
    await writeFile(path, bytes);
    const { files } = await renderImage(path);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = await readProcessorTime(defaultRenderProcess.pid!);
      await renderImage(path);
      times.push((await readProcessorTime(defaultRenderProcess.pid!)) - before);
    }
    const cpuMs = Math.round(times.sort((one, other) => one - other)[ROUNDS >> 1]!);
    return { cpuMs, renditionBytes: Object.values(files).reduce((sum, file) => sum + file.length, 0) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Creates all photos at once and waits until they are rendered. */
async function measureArrival(
  { instance, databases, token, builderId }: InstanceEnvironment,
  photos: Record<Type, Buffer>,
) {
  const idleMib = await readTreeResidentMib(instance.pid);
  const stopTracking = trackPeakResidentMib(instance.pid);
  const startedAt = performance.now();
  const types = Object.keys(photos) as Type[];
  const created = Array.from({ length: PHOTOS }, (_, index) => {
    const type = types[index % types.length]!;
    return createPhoto(`${instance.origin}/builders/${builderId}`, token, type, photos[type]);
  });
  const ids = await Promise.all(created);
  const em = databases.au1.fork();
  for (let pendingPhotos = ids.length; pendingPhotos > 0; await sleep(100)) {
    const rows = await em.execute<{ status: string }[]>(
      `select status from photo_rendition where photo_id in (${ids.map(() => '?').join()})`,
      ids,
    );
    pendingPhotos = rows.filter(({ status }) => status === 'PENDING').length;
    if (rows.some(({ status }) => status === 'FAILED')) throw new Error('A photo was not rendered.');
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const peakMib = await stopTracking();
  return { seconds: Number(seconds.toFixed(1)), perSecond: Number((PHOTOS / seconds).toFixed(1)), idleMib, peakMib };
}

/** Uploads an image and creates a photo of it, again after a 503. Returns the id of the photo. */
async function createPhoto(url: string, token: string, type: Type, bytes: Buffer): Promise<string> {
  const authorization = `Bearer ${token}`;
  const form = new FormData();
  form.set('type', 'attachment');
  form.set('file', new Blob([Uint8Array.from(bytes)], { type }), 'photo');
  const uploaded = await fetch(`${url}/attachments/upload`, { method: 'POST', headers: { authorization }, body: form });
  const { key, regionId } = (await uploaded.json()) as { key: string; regionId: string };
  const response = await fetch(`${url}/photos`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ fileName: 'photo', imageAttachment: { key, regionId, type: 'attachment' } }),
  });
  if (response.status === 503) return createPhoto(url, token, type, bytes);
  if (response.status !== 201)
    throw new Error(`A photo was answered with ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}
