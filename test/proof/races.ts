import sharp from 'sharp';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { blocks, page, request } from '../photo-reports/documents.ts';
import { BASE_URL, type ProofEnvironment } from './proof-environment.ts';
import { countBy } from './statistics.ts';

/** Requests that are sent at the same time, over all instances. */
const CONCURRENT_REQUESTS = 8;
const PHOTOS = 12;
const SOURCE_APP = 'races';

interface ReceivedBody {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a body is read by name.
  body: any;
}

/** Sends competing writes at the same time in each round. Each must have one effect, and none may fail. Returns the counts as text. */
export async function runRaces(environment: ProofEnvironment, rounds: number, problems: string[]): Promise<string> {
  const client = environment.demo.clients.find(({ name }) => name === 'B')!;
  const builderId = client.builderIds[0]!;
  const tokens = new AccessTokens({ keys: [environment.settings.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
  const claims = { sub: client.clientId, client_id: client.clientId, scope: client.scopes.join(' ') };
  const { token } = await tokens.sign('au1', claims);
  const em = environment.database().fork();
  const [project] = await em.execute<{ id: string }[]>(
    'select id from project where builder_id = ? order by id limit 1',
    [builderId],
  );
  const file = await sharp({ create: { width: 16, height: 16, channels: 3, background: 'grey' } })
    .jpeg()
    .toBuffer();
  const statuses: number[] = [];

  const send = async (at: number, path: string, body: object | FormData): Promise<ReceivedBody> => {
    const { origin } = environment.instances[at % environment.instances.length]!;
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
  const createBodies = <T>(make: (index: number) => T) =>
    Array.from({ length: CONCURRENT_REQUESTS }, (_, index) => make(index));

  /** Upserts the same photos on one page, or on two competing pages, in both orders. */
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
    const responses = await sendTogether(
      '/photo-gallery/bulk-upsert',
      createBodies((index) => ({
        ...{ sourceApp: SOURCE_APP, externalSourceId: `${round}-${index % pages}`, projectId: project!.id },
        ...{ folderName: `Race ${round}`, photos: index < CONCURRENT_REQUESTS / 2 ? photos : photos.toReversed() },
      })),
    );
    expectStatuses('bulk upserts', responses, [200]);
    const rows = await em.execute<{ photos: number; different: number; folders: number }[]>(
      `select count(*)::int as photos, count(distinct external_source_id)::int as different, count(distinct folder_id)::int as folders
        from photo where source_app = ? and page_external_source_id like ? and archived_at is null group by page_external_source_id`,
      [SOURCE_APP, `${round}-%`],
    );
    const isUnique = rows.length >= 1 && rows.every((row) => row.photos === row.different && row.folders === 1);
    const isComplete = pages === 2 || rows[0]?.photos === PHOTOS;
    if (!isUnique || !isComplete) problems.push(`bulk upserts made ${JSON.stringify(rows)}`);
  };

  /** Syncs four revisions of a report, each with two contents. One content of a revision may be accepted, and the newest is stored. */
  const raceRevisions = async (round: number) => {
    const identity = { sourceApp: SOURCE_APP, sourceExternalId: `report-${round}`, projectId: project!.id };
    const revisionOf = (index: number) => 1 + (index >> 1);
    const responses = await sendTogether(
      '/photo-reports/sync',
      createBodies((index) =>
        request({ ...identity, sourceRevision: revisionOf(index), page: page([blocks.heading(`h-${index}`)]) }),
      ),
    );
    expectStatuses('syncs', responses, [200, 409]);
    for (let revision = 1; revision <= CONCURRENT_REQUESTS >> 1; revision++) {
      const accepted = responses.filter(({ status }, index) => status === 200 && revisionOf(index) === revision).length;
      const isLast = revision === CONCURRENT_REQUESTS >> 1;
      if (accepted > 1 || (isLast && accepted === 0))
        problems.push(`revision ${revision} was accepted ${accepted} times`);
    }
    const [stored] = await em.execute<{ revision: number }[]>(
      'select source_revision as revision from photo_report where source_app = ? and source_external_id = ?',
      [SOURCE_APP, identity.sourceExternalId],
    );
    if (stored?.revision !== CONCURRENT_REQUESTS >> 1) problems.push(`the report has revision ${stored?.revision}`);
  };

  function expectStatuses(name: string, responses: ReceivedBody[], expected: number[]): void {
    for (const { status, body } of responses) {
      if (!expected.includes(status)) problems.push(`${name}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
    }
  }

  for (let round = 0; round < rounds; round++) {
    await racePhotos(round);
    await raceRevisions(round);
  }
  return `${rounds} races of photos and of revisions: ${JSON.stringify(countBy(statuses, (status) => status))}`;
}
