import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { blocks, type Json, page, request } from './documents.ts';
import { addPhoto } from './photo-rows.ts';
import { type ArchiveAttempt, type ExpectedResponse, ReportModel, type SyncAttempt } from './report-model.ts';

const PATH = '/photo-reports/sync';
const RUNS = 120;

const service = useService();
const clients: Record<string, BuilderClient> = {};
const photos: string[] = [];
let commands = 0;

beforeAll(async () => {
  for (const name of ['A', 'C']) clients[name] = await createBuilderClient(service, name);
  for (let count = 0; count < 2; count++) photos.push(await addPhoto(service, clients.A!.builderId));
});

afterAll(async () => {
  console.info(`photo report model: ${commands} answers as the model says`);
});

const sql = (text: string, values: unknown[] = []) =>
  service.databases.au1.fork().execute(text, values) as Promise<Json[]>;

/** Contents of the reports, by name. */
const CONTENTS: Record<string, { photos: number[]; failed: boolean; paths: string[] }> = {
  plain: { photos: [], failed: false, paths: [''] },
  nested: { photos: [], failed: false, paths: ['', 'child', 'child/inner'] },
  first: { photos: [0], failed: false, paths: ['', 'child'] },
  both: { photos: [0, 1], failed: true, paths: ['', 'child'] },
};

function createDocument(content: string): Json {
  const images = CONTENTS[content]!.photos.map((at) => blocks.image(`image-${at}`, photos[at]));
  const failed = CONTENTS[content]!.failed ? [blocks.failed('failed')] : [];
  const child = page([...images, ...failed, ...(content === 'nested' ? [blocks.page('inner')] : [])]);
  return page([blocks.text(content), ...(content === 'plain' ? [] : [blocks.page('child', child)])]);
}

/** The reports of one run in the service. */
class RunContext {
  readonly #run = randomUUID();
  /** Ids of each report and page. */
  readonly #ids = new Map<string, string>();

  id = (report: string) => `${report}-${this.#run}`;

  async call(
    method: 'POST' | 'PATCH' | 'DELETE',
    who: string,
    report: string,
    body: object,
  ): Promise<ExpectedResponse> {
    commands++;
    const sent = { sourceApp: 'model', sourceExternalId: this.id(report), ...body };
    const answer = await clients[who]!.send(method, PATH, sent);
    const { status, idempotent, sourceRevision, photoReportId, pageId, code } = answer.json();
    const http = answer.statusCode as 200 | 409;
    if (http !== 200) return { http, code };
    const given = `${photoReportId} ${pageId}`;
    expect(this.#ids.get(report) ?? given).toBe(given);
    this.#ids.set(report, given);
    return { http, status, idempotent, sourceRevision };
  }

  /** Returns the stored reports of the run. */
  async stored(): Promise<Json[]> {
    return sql(
      `select split_part(r.source_external_id, '-', 1) as report, r.source_revision as revision, r.status,
        r.archived_at is not null as archived, c.name as owner, r.content -> 'page' -> 'blocks' -> 0 ->> 'sourceBlockId' as content,
        (select json_agg(array_to_string(p.path, '/') order by p.path) from photo_report_page p where p.report_id = r.id) as paths
      from photo_report r join oauth_client c on c.integrator_id = r.integrator_id and c.name in ('A', 'C')
      where r.source_app = 'model' and r.source_external_id like ? order by 1`,
      [`%-${this.#run}`],
    );
  }
}

type Command = fc.AsyncCommand<ReportModel, RunContext>;

class SyncCommand implements Command {
  readonly attempt: SyncAttempt;
  constructor(attempt: Omit<SyncAttempt, 'photos' | 'failed'>) {
    const { photos: shown, failed } = CONTENTS[attempt.content]!;
    this.attempt = { ...attempt, photos: shown.map(String), failed };
  }
  check = () => true;
  toString = () => JSON.stringify(this.attempt);

  async run(model: ReportModel, real: RunContext): Promise<void> {
    const { who, report, revision, content, updateOnly } = this.attempt;
    const { sourceApp, sourceExternalId, ...body } = request({
      sourceRevision: revision,
      page: createDocument(content),
    });
    // The second request is a retry after a lost response.
    for (let sent = 0; sent < 2; sent++) {
      const expected = model.sync(this.attempt);
      expect(await real.call(updateOnly ? 'PATCH' : 'POST', who, report, body)).toEqual(expected);
    }
  }
}

class ArchiveCommand implements Command {
  constructor(readonly archive: ArchiveAttempt) {}
  check = () => true;
  toString = () => `archive ${JSON.stringify(this.archive)}`;

  async run(model: ReportModel, real: RunContext): Promise<void> {
    const { who, report, revision } = this.archive;
    const expected = model.archive(this.archive);
    const body = revision === null ? {} : { sourceRevision: revision };
    expect(await real.call('DELETE', who, report, body)).toEqual(expected);
  }
}

class PhotoCommand implements Command {
  constructor(
    readonly photo: number,
    readonly archived: boolean,
  ) {}
  check = () => true;
  toString = () => `photo ${this.photo} ${this.archived ? 'archived' : 'active'}`;

  async run(model: ReportModel): Promise<void> {
    if (this.archived) model.archivedPhotos.add(String(this.photo));
    else model.archivedPhotos.delete(String(this.photo));
    const at = this.archived ? 'now()' : 'null';
    await sql(`update photo set archived_at = ${at} where id = ?`, [photos[this.photo]]);
  }
}

const anyIntegrator = fc.constantFrom('A', 'A', 'C');
const report = fc.constantFrom('one', 'two');
const revision = fc.integer({ min: 1, max: 5 });

const anyCommand = [
  fc
    .record({
      who: anyIntegrator,
      report,
      revision,
      content: fc.constantFrom(...Object.keys(CONTENTS)),
      updateOnly: fc.boolean(),
    })
    .map((attempt) => new SyncCommand(attempt)),
  fc
    .record({ who: anyIntegrator, report, revision: fc.option(revision) })
    .map((archive) => new ArchiveCommand(archive)),
  fc.tuple(fc.constantFrom(0, 1), fc.boolean()).map(([photo, archived]) => new PhotoCommand(photo, archived)),
];

// PRP-1, PRP-3, PRP-4, PRP-5, PRP-6
it('responds and stores like an in-memory model, for random requests of two integrators', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(anyCommand, { maxCommands: 40, size: 'max' }), async (sequence) => {
      await sql('update photo set archived_at = null where id in (?)', [photos]);
      const model = new ReportModel();
      const real = new RunContext();
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      const expected = [...model.reports].toSorted().map(([name, { owner, failed, ...rest }]) => ({
        ...{ report: name, owner, status: failed ? 'partial' : 'synced' },
        ...{ ...rest, paths: CONTENTS[rest.content]!.paths },
      }));
      expect(await real.stored()).toEqual(expected);
    }),
    { numRuns: RUNS },
  );
});
