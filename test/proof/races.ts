import sharp from 'sharp';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { blocks, page, request } from '../photo-reports/documents.ts';
import { countBy } from './exchange.ts';
import { BASE_URL, type ProofSite } from './site.ts';

/** Requests that are sent at the same moment, over all instances. */
const RACERS = 8;
const PHOTOS = 12;
const SOURCE_APP = 'races';

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a body is read by name.
  body: any;
}

/** Sends competing writes at the same moment, round after round: each has one effect, and none fails. Returns the counts in a line. */
export async function race(site: ProofSite, rounds: number, wrong: string[]): Promise<string> {
  const client = site.demo.clients.find(({ name }) => name === 'B')!;
  const builderId = client.builderIds[0]!;
  const tokens = new AccessTokens({ keys: [site.env.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
  const claims = { sub: client.clientId, client_id: client.clientId, scope: client.scopes.join(' ') };
  const { token } = await tokens.sign(claims);
  const em = site.database().fork();
  const [project] = await em.execute<{ id: string }[]>(
    'select id from project where builder_id = ? order by id limit 1',
    [builderId],
  );
  const file = await sharp({ create: { width: 16, height: 16, channels: 3, background: 'grey' } })
    .jpeg()
    .toBuffer();
  const statuses: number[] = [];

  const send = async (at: number, path: string, body: object | FormData): Promise<Answer> => {
    const { origin } = site.instances[at % site.instances.length]!;
    const isForm = body instanceof FormData;
    const response = await fetch(`${origin}/builders/${builderId}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...(!isForm && { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    statuses.push(response.status);
    return { status: response.status, body: await response.json() };
  };
  const sendTogether = (path: string, bodies: object[]) =>
    Promise.all(bodies.map((body, index) => send(index, path, body)));
  const repeat = <T>(make: (index: number) => T) => Array.from({ length: RACERS }, (_, index) => make(index));

  /** The same photos on one page, or on two of which each wants them, in both orders. */
  const racePhotos = async (round: number) => {
    const form = new FormData();
    form.set('type', 'attachment');
    for (let index = 0; index < PHOTOS; index++) {
      form.set(`file:${index}`, new File([file as never], 'site.jpg', { type: 'image/jpeg' }));
    }
    const uploaded = await send(round, '/attachments/bulk-upload', form);
    const photos = (uploaded.body.uploads as { key: string; regionId: string; type: string }[]).map(
      ({ key, regionId, type }, index) => ({
        externalSourceId: `photo-${index}`,
        imageAttachment: { key, regionId, type },
      }),
    );
    const pages = round % 2 === 0 ? 1 : 2;
    const answers = await sendTogether(
      '/photo-gallery/bulk-upsert',
      repeat((index) => ({
        ...{ sourceApp: SOURCE_APP, externalSourceId: `${round}-${index % pages}`, projectId: project!.id },
        ...{ folderName: `Race ${round}`, photos: index < RACERS / 2 ? photos : photos.toReversed() },
      })),
    );
    expectStatuses('bulk upserts', answers, [200]);
    const rows = await em.execute<{ photos: number; different: number; folders: number }[]>(
      `select count(*)::int as photos, count(distinct external_source_id)::int as different, count(distinct folder_id)::int as folders
        from photo where source_app = ? and page_external_source_id like ? and archived_at is null group by page_external_source_id`,
      [SOURCE_APP, `${round}-%`],
    );
    const isOnce = rows.length >= 1 && rows.every((row) => row.photos === row.different && row.folders === 1);
    const isWhole = pages === 2 || rows[0]?.photos === PHOTOS;
    if (!isOnce || !isWhole) wrong.push(`bulk upserts made ${JSON.stringify(rows)}`);
  };

  /** Four revisions of a report, each with two contents: one of them is stored, and the last is the newest. */
  const raceRevisions = async (round: number) => {
    const identity = { sourceApp: SOURCE_APP, sourceExternalId: `report-${round}`, projectId: project!.id };
    const revisionOf = (index: number) => 1 + (index >> 1);
    const answers = await sendTogether(
      '/photo-reports/sync',
      repeat((index) =>
        request({ ...identity, sourceRevision: revisionOf(index), page: page([blocks.heading(`h-${index}`)]) }),
      ),
    );
    expectStatuses('syncs', answers, [200, 409]);
    for (let revision = 1; revision <= RACERS >> 1; revision++) {
      const accepted = answers.filter(({ status }, index) => status === 200 && revisionOf(index) === revision).length;
      const isLast = revision === RACERS >> 1;
      if (accepted > 1 || (isLast && accepted === 0)) wrong.push(`revision ${revision} was accepted ${accepted} times`);
    }
    const [stored] = await em.execute<{ revision: number }[]>(
      'select source_revision as revision from photo_report where source_app = ? and source_external_id = ?',
      [SOURCE_APP, identity.sourceExternalId],
    );
    if (stored?.revision !== RACERS >> 1) wrong.push(`the report has revision ${stored?.revision}`);
  };

  function expectStatuses(name: string, answers: Answer[], expected: number[]): void {
    for (const { status, body } of answers) {
      if (!expected.includes(status)) wrong.push(`${name}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
    }
  }

  for (let round = 0; round < rounds; round++) {
    await racePhotos(round);
    await raceRevisions(round);
  }
  return `${rounds} races of photos and of revisions: ${JSON.stringify(countBy(statuses, (status) => status))}`;
}
