import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { defaultRenderProcess, renderImage } from '../../src/images/render.ts';
import { heicGrid } from '../support/heic-grid.ts';
import { sitePhoto } from '../support/site-photo.ts';
import { type InstanceSite, residentMib, watchResidentMib, withInstance } from './instance-site.ts';
import { processorTime } from './processes.ts';
import { markdown } from './table.ts';

const PHOTOS = 20;
/** A photo of a telephone. */
const SIZE = { width: 4032, height: 3024 };
const ROUNDS = 7;
const LIMIT_CPU_MS = 1_000;

type Type = 'image/jpeg' | 'image/heic';

/** CPU time of a rendering by type, and photos per second and memory of an instance that takes 20 photos at once. */
export async function renditions() {
  const photos: Record<Type, Buffer> = { 'image/jpeg': await createJpeg(), 'image/heic': await createHeic() };
  const costs = [];
  for (const [type, bytes] of Object.entries(photos))
    costs.push({ type, bytes: bytes.length, ...(await costOf(bytes)) });
  const arrival = await withInstance('local', (site) => sendAtOnce(site, photos));
  return { costs, arrival, holds: costs.every(({ cpuMs }) => cpuMs < LIMIT_CPU_MS) };
}

export function renditionsTable({ costs, arrival }: Awaited<ReturnType<typeof renditions>>): string {
  const header = ['photo', 'KiB', 'CPU, ms', 'limit, ms', 'renditions, KiB'];
  const rows = costs.map(({ type, bytes, cpuMs, renditionBytes }) => [
    ...[`${type}, ${SIZE.width} x ${SIZE.height}`, Math.round(bytes / 1024), cpuMs, LIMIT_CPU_MS],
    Math.round(renditionBytes / 1024),
  ]);
  const { perSecond, idleMib, peakMib, seconds } = arrival;
  return `
${markdown(
  header,
  rows.map((row) => row.map(String)),
)}

CPU time of one process, all three sizes, median of ${ROUNDS}. The 48 tiles of the HEIC
are four that x265 encoded, in turn, with 8 bits and 4:2:0. ${PHOTOS} of these photos that arrive at once, half of each type, are
accepted and rendered within ${seconds} s: ${perSecond} photos per second, ${idleMib} MiB of resident memory before and at most ${peakMib} MiB.
`;
}

const createJpeg = async () =>
  sharp(await sitePhoto(SIZE.width, SIZE.height))
    .jpeg({ quality: 90 })
    .toBuffer();

/** Tiles of `sitePhoto`, encoded by `heif-enc -q 57 -p preset=medium`, so that the 48 of a photo have as many bytes as those of a telephone. */
const TILES = [0, 1, 2, 3].map((index) => `test/fixtures/heic/site-${index}.heic`);

async function createHeic(): Promise<Buffer> {
  const tiles = await Promise.all(TILES.map((file) => readFile(file)));
  const sources = Array.from({ length: 48 }, (_, index) => tiles[index % tiles.length]!);
  return heicGrid(sources, { columns: 8, rows: 6, ...SIZE });
}

async function costOf(bytes: Buffer): Promise<{ cpuMs: number; renditionBytes: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  const path = join(folder, 'photo');
  try {
    await writeFile(path, bytes);
    const { files } = await renderImage(path);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = await processorTime(defaultRenderProcess.pid!);
      await renderImage(path);
      times.push((await processorTime(defaultRenderProcess.pid!)) - before);
    }
    const cpuMs = Math.round(times.sort((one, other) => one - other)[ROUNDS >> 1]!);
    return { cpuMs, renditionBytes: Object.values(files).reduce((sum, file) => sum + file.length, 0) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function sendAtOnce({ instance, databases, token, builderId }: InstanceSite, photos: Record<Type, Buffer>) {
  const idleMib = await residentMib(instance.pid);
  const watched = watchResidentMib(instance.pid);
  const startedAt = performance.now();
  const types = Object.keys(photos) as Type[];
  const created = Array.from({ length: PHOTOS }, (_, index) => {
    const type = types[index % types.length]!;
    return createPhoto(`${instance.origin}/builders/${builderId}`, token, type, photos[type]);
  });
  const ids = await Promise.all(created).finally(() => undefined);
  const em = databases.au1.fork();
  for (let left = ids.length; left > 0; await sleep(100)) {
    const rows = await em.execute<{ status: string }[]>(
      `select status from photo_rendition where photo_id in (${ids.map(() => '?').join()})`,
      ids,
    );
    left = rows.filter(({ status }) => status === 'PENDING').length;
    if (rows.some(({ status }) => status === 'FAILED')) throw new Error('A photo was not rendered.');
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const peakMib = await watched();
  return { seconds: Number(seconds.toFixed(1)), perSecond: Number((PHOTOS / seconds).toFixed(1)), idleMib, peakMib };
}

async function createPhoto(url: string, token: string, type: Type, bytes: Buffer): Promise<string> {
  const authorization = `Bearer ${token}`;
  const form = new FormData();
  form.set('type', 'attachment');
  form.set('file', new Blob([Uint8Array.from(bytes)], { type }), 'photo');
  const uploaded = await fetch(`${url}/attachments/upload`, { method: 'POST', headers: { authorization }, body: form });
  const { key, regionId } = (await uploaded.json()) as { key: string; regionId: string };
  const answer = await fetch(`${url}/photos`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ fileName: 'photo', imageAttachment: { key, regionId, type: 'attachment' } }),
  });
  if (answer.status === 503) return createPhoto(url, token, type, bytes);
  if (answer.status !== 201) throw new Error(`A photo was answered with ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}
