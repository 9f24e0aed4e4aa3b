import { beforeAll, describe, expect, it } from 'vitest';
import { createSession } from '../../src/oauth/interaction/sessions.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { blocks, createPageOfEveryBlock, item, type Json, page, request } from './documents.ts';
import { addPhoto, archivePhoto } from './photo-rows.ts';

const PATH = '/photo-reports/sync';

const service = useService();
let A: BuilderClient;

beforeAll(async () => {
  A = await createBuilderClient(service, 'A');
});

const sql = (text: string, values: unknown[] = []) =>
  service.databases.au1.fork().execute(text, values) as Promise<Json[]>;

/** Signs in as the first member of the builder and returns the session cookie. */
async function signIn(builderId = A.builderId): Promise<string> {
  const [user] = await sql(
    `select u.id, u.password_hash as credential from app_user u join membership m on m.user_id = u.id
      where m.builder_id = ? and u.password_hash is not null and (select count(*) from membership n where n.user_id = u.id) = 1 limit 1`,
    [builderId],
  );
  const browserId = newSecret();
  await createSession(service.databases.au1, browserId, user, service.clock.now());
  return `session-au1=${browserId}`;
}

const openReport = (id: string, cookie?: string) =>
  service.request({ url: `/reports/${id}`, headers: cookie ? { cookie } : {} });

const sync = async (more: object) => (await A.sendOk('POST', PATH, request(more))).photoReportId as string;

describe('the page of a report', () => {
  it('shows a member the report: nested pages, lists, checklists, images and failed images (PRP-39)', async () => {
    const [photo, gone] = [await addPhoto(service, A.builderId), await addPhoto(service, A.builderId)];
    const inside = [...createPageOfEveryBlock().blocks, blocks.image('photo', photo), blocks.image('gone', gone)];
    const id = await sync({ page: page(inside, { title: 'Level 3', shortDescription: 'Before the pour' }) });
    await archivePhoto(service, gone);
    const answer = await openReport(id, await signIn());
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['cache-control']).toBe('no-store');
    for (const text of ['<h1>Level 3</h1>', 'Before the pour', '<strong><em>missing</em></strong>', 'Close the void']) {
      expect(answer.body).toContain(text);
    }
    expect(answer.body).toMatch(/<section class="page" id="page_[a-z0-9]+">/);
    expect(answer.body).toContain('aria-label="done"');
    expect(answer.body).toContain('No network. <code>UPLOAD_FAILED</code>');
    expect(answer.body).toContain('The photo is archived.');
  });

  it('shows the renditions of a photo with its dimensions, loaded when needed, and leads to the original (PHO-39)', async () => {
    const [known, pending] = [await addPhoto(service, A.builderId), await addPhoto(service, A.builderId)];
    await sql(`update photo_rendition set status = 'READY', width = 3024, height = 4032 where photo_id = ?`, [known]);
    const id = await sync({ page: page([blocks.image('known', known), blocks.image('pending', pending)]) });
    const { body } = await openReport(id, await signIn());
    const [first, second] = [...body.matchAll(/<figure><a href="([^"]+)"><img ([^>]+)>/g)];
    expect(first![1]).toContain(`photos/${A.builderId}/${known}.jpg?`);
    const attributes = Object.fromEntries(
      [...first![2]!.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    expect(attributes).toMatchObject({ class: '', width: '480', height: '640', loading: 'lazy' });
    expect(attributes.src).toMatch(/renditions\/.+-medium\.webp\?.*signature=/);
    expect(attributes.srcset!.split(', ').map((source: string) => source.split(' ')[1])).toEqual([
      '120w',
      '480w',
      '1200w',
    ]);
    // The layout does not change when the dimensions become known.
    expect(second![2]).toMatch(/^class="pending" .*width="640" height="480"/);
  });

  it('shows nothing without a session or with an expired one (PRP-38)', async () => {
    const id = await sync({});
    const asksToSignIn = async (cookie?: string) => {
      const { statusCode, headers, body } = await openReport(id, cookie);
      expect([statusCode, headers.location, body]).toEqual([303, `/reports/sign-in?to=${id}`, '']);
    };
    await asksToSignIn();
    await asksToSignIn('session-au1=made-up');
    const cookie = await signIn();
    service.clock.advance(12 * 3_600_000 + 1_000);
    A = await createBuilderClient(service, 'A');
    await asksToSignIn(cookie);
  });

  it('is 404 for a user of another builder and for an unknown report (PRP-38)', async () => {
    const id = await sync({});
    const cookie = await signIn();
    await sql('update photo_report set builder_id = (select id from builder where id <> ? limit 1) where id = ?', [
      A.builderId,
      id,
    ]);
    const answer = await openReport(id, cookie);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).not.toContain('Site walk');
    for (const other of ['phrep_none', 'PHREP_1', 'x', '..%2f', `phrep_${'a'.repeat(5_000)}`]) {
      expect((await openReport(other, cookie)).statusCode, other).toBe(404);
    }
  });

  it.each([
    ['2026-04-04T15:59:00Z', null, '5 April 2026 at 2:59 am AEDT'],
    ['2026-04-04T16:00:00Z', null, '5 April 2026 at 2:00 am AEST'],
    ['2026-04-04T16:00:00Z', 'Australia/Adelaide', '5 April 2026 at 2:30 am ACDT'],
  ])('shows %s in the builder’s time zone, %s, across a change of the clocks (PRP-41)', async (at, zone, text) => {
    const id = await sync({ walkthroughDate: at });
    await sql('update builder set time_zone = ? where id = ?', [zone, A.builderId]);
    expect((await openReport(id, await signIn())).body).toContain(`>${text}</time>`);
  });

  it('escapes all text of a report (PRP-39)', async () => {
    const evil = `"'></p></title><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">&lt;b&gt;`;
    const runs = [{ text: evil, marks: ['BOLD', 'ITALIC'] }, { text: evil }];
    const inside = (child: Json[]) =>
      page(
        [
          blocks.text(`${evil}1`.slice(0, 220), runs),
          { ...blocks.heading('h', 2), richText: runs, properties: { level: 2, [evil]: evil } },
          blocks.list('l', [item(evil, { richText: runs, depth: 3 })]),
          blocks.list('o', [item('a', { richText: runs })], 'ORDERED_LIST'),
          blocks.list('c', [item('a', { richText: runs, checked: true })], 'CHECKLIST'),
          blocks.failed('f', { code: evil.slice(0, 80), message: evil }),
          ...child,
        ],
        { title: evil, shortDescription: evil, contentMetadata: { [evil]: evil } },
      );
    const id = await sync({
      ...{ sourceApp: evil.slice(0, 80), sourceExternalId: evil, page: inside([blocks.page('p', inside([]))]) },
      sourceAuthor: { externalId: evil, name: evil },
      projectId: await addProject(service, A.builderId),
      sourceDeepLink: "https://notes.example/'onmouseover='alert(1)",
    });
    await sql(`update project set name = ?`, [evil]);
    const { statusCode, body } = await openReport(id, await signIn());
    expect(statusCode).toBe(200);
    const tags = [...body.replace('<!doctype html>', '').matchAll(/<([^>]*)>/g)].map(([, tag]) => tag!);
    const own =
      /^(\/?(html|head|body|header|main|nav|article|title|h[1-6]|p|dl|dt|dd|time|a|section|ul|ol|li|span|strong|em|code|figure)|meta|link)( (lang|charset|name|content|rel|href|type|class|id|datetime|role|aria-label)="[^"<>]*")*$/;
    // The icon and the sign-out form.
    const fixed =
      /^(img src="\/oauth\/assets\/[\w.-]+" alt="" width="28" height="28"|\/?form|form method="post" action="\/reports\/[\w?=-]+" class="out"|input type="hidden" name="csrf" value="[\w-]{43}"|\/?button)$/;
    expect(tags.filter((tag) => !own.test(tag) && !fixed.test(tag))).toEqual([]);
    expect(body.split('&lt;script&gt;alert(1)&lt;/script&gt;').length).toBeGreaterThan(20);
    expect(body).toContain('href="https://notes.example/&#39;onmouseover=&#39;alert(1)"');
  });

  it('does not link an imported deep link that is not HTTPS (PRP-39)', async () => {
    const id = await sync({});
    await sql(`update photo_report set source_deep_link = 'javascript:alert(1)' where id = ?`, [id]);
    expect((await openReport(id, await signIn())).body).not.toContain('javascript:');
  });

  it('serves its stylesheet from its own origin', async () => {
    const { body } = await openReport(await sync({}), await signIn());
    const [, href] = /<link rel="stylesheet" href="([^"]+)"/.exec(body)!;
    const answer = await service.request({ url: href! });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  });
});
