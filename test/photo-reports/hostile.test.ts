import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { validatePageDocument } from '../../src/domain/photo-reports/page-document.ts';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { blocks, createNestedPages, createRequestText, page, request } from './documents.ts';

const MEBIBYTE = 1024 * 1024;

const service = useService();
const client = useBuilderClient(service, 'A');
let url: string;

beforeAll(async () => {
  await (service.app as FastifyInstance).listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as { port: number };
  url = `http://127.0.0.1:${port}/builders/${client.builderId}/photo-reports/sync`;
});

async function send(body: string | Uint8Array): Promise<{ status: number; errors?: { fieldName: string }[] }> {
  const headers = { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' };
  try {
    const answer = await fetch(url, { method: 'POST', headers, body: body as never });
    return { ...((await answer.json()) as object), status: answer.status };
  } catch {
    // The service responds before it has read the whole body and closes; a client that is still writing may see only the close.
    return { status: 413 };
  }
}

describe('a hostile body', () => {
  it('of more than 32 MiB of nested arrays is 413, and of 31 MiB 400 (PRP-33)', async () => {
    expect((await send(Buffer.alloc(33 * MEBIBYTE, '['))).status).toBe(413);
    expect(await send(Buffer.alloc(31 * MEBIBYTE, '['))).toMatchObject({
      status: 400,
      errors: [{ fieldName: 'body' }],
    });
  });

  it('of 10,000 levels of childPage is 400 (PRP-33)', async () => {
    expect(await send(createRequestText(createNestedPages(10_000)))).toMatchObject({
      status: 400,
      errors: [{ fieldName: 'body' }],
    });
  });

  it('of 15 levels of childPage, which a body may nest, is 400 at the fifth', async () => {
    const { status, errors } = await send(createRequestText(createNestedPages(15)));
    expect(status).toBe(400);
    expect(errors!.map(({ fieldName }) => fieldName)).toEqual([`page${'.blocks[0].childPage'.repeat(4)}`]);
  });

  it.each([
    ['__proto__ as a field', '{"schemaVersion":1,"title":"a","blocks":[],"__proto__":{"a":1}}'],
    ['constructor as a field', '{"schemaVersion":1,"title":"a","blocks":[],"constructor":{"prototype":{"a":1}}}'],
    ['U+0000', String.raw`{"schemaVersion":1,"title":"a\u0000","blocks":[]}`],
    ['a lone surrogate', String.raw`{"schemaVersion":1,"title":"\udc00a","blocks":[]}`],
    ['a raw U+0000', '{"schemaVersion":1,"title":"a\0","blocks":[]}'],
  ])('with %s is 400', async (_, inner) => {
    expect((await send(createRequestText(inner))).status).toBe(400);
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it('with a surrogate in its UTF-8 is 400', async () => {
    const bytes = Buffer.from(createRequestText('{"schemaVersion":1,"title":"HERE","blocks":[]}'));
    const at = bytes.indexOf('HERE');
    bytes.set([0xed, 0xa0, 0x80, 0x20], at);
    expect((await send(bytes)).status).toBe(400);
  });

  it('stops the validation at the hundredth error (PRP-32)', () => {
    const list = { ...page(), blocks: new Array(3_000_000).fill(5) };
    expect(validatePageDocument(list, 'page')).toHaveLength(100);
  });
});

describe('the limit of the body', () => {
  it('is 32 MiB here and 1 MiB elsewhere (PRP-33)', async () => {
    const large = Buffer.alloc(31 * MEBIBYTE, ' ');
    large.write(JSON.stringify(request({ page: page([blocks.text('a')]), ignored: 'a'.repeat(2 * MEBIBYTE) })));
    expect((await send(large)).status).toBe(200);
    const { statusCode } = await client.send('POST', '/photos', { fileName: 'a'.repeat(2 * MEBIBYTE) });
    expect(statusCode).toBe(413);
    const answer = await client.send('POST', '/photo-reports/sync', { ignored: 'a'.repeat(32 * MEBIBYTE) });
    expect([answer.statusCode, answer.json().code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const archive = await client.send('DELETE', '/photo-reports/sync', { ignored: 'a'.repeat(2 * MEBIBYTE) });
    expect(archive.statusCode).toBe(413);
  });
});
