import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { arbitraryText } from '../support/arbitrary-text.ts';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';

const service = useService();
const client = useBuilderClient(service, 'A');
let image: Buffer;
let baseUrl: string;

beforeAll(async () => {
  baseUrl = await service.app.listen({ host: '127.0.0.1', port: 0 });
  image = await createPicture();
});

interface Part {
  name: string;
  fileName?: string;
  type?: string;
  body: Buffer | string;
}

const BOUNDARY = 'a-boundary-of-ours';

/** A file name whose form is encoded in Latin-1, as browsers do for pages in it. */
const LATIN1_NAME = 'caf\u00e9.jpg';

function encodeForm(parts: readonly Part[], boundary = BOUNDARY): Buffer {
  const chunks = parts.flatMap(({ name, fileName, type, body }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    fileName === undefined ? '' : `; filename="${fileName}"`,
    `${type === undefined ? '' : `\r\nContent-Type: ${type}`}\r\n\r\n`,
    body,
    '\r\n',
  ]);
  const isLatin1 = parts.some(({ fileName }) => fileName === LATIN1_NAME);
  const encode = (chunk: Buffer | string) =>
    typeof chunk === 'string' ? Buffer.from(chunk, isLatin1 ? 'latin1' : 'utf8') : chunk;
  return Buffer.concat([...chunks, `--${boundary}--\r\n`].map(encode));
}

async function send(
  operation: 'upload' | 'bulk-upload',
  payload: Buffer,
  contentType = `multipart/form-data; boundary=${BOUNDARY}`,
  token = client.token,
) {
  return service.request({
    method: 'POST',
    url: `/builders/${client.builderId}/attachments/${operation}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
    payload,
  });
}

const file = (name = 'file', more: Partial<Part> = {}): Part => ({
  name,
  fileName: 'site.jpg',
  type: 'image/jpeg',
  body: image,
  ...more,
});
const type = (name = 'type', body = 'attachment'): Part => ({ name, body });
const errorsOf = (answer: { json(): { errors?: { fieldName: string }[] } }) =>
  answer.json().errors?.map(({ fieldName }) => fieldName);

/** Returns all files of the storage, temporary ones included. */
async function storedFiles(): Promise<string[]> {
  const names = await readdir(join(service.dataDir, 'storage'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const createFormHeaders = () => ({
  authorization: `Bearer ${client.token}`,
  'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
});

/** Sends a form to the bulk upload without a Content-Length. */
const sendChunked = (start: (controller: ReadableStreamDefaultController<Uint8Array>) => void) =>
  fetch(`${baseUrl}/builders/${client.builderId}/attachments/bulk-upload`, {
    method: 'POST',
    headers: createFormHeaders(),
    body: new ReadableStream({ start }),
    duplex: 'half',
  } as RequestInit);

async function* endless(start: Buffer): AsyncGenerator<Buffer> {
  yield start;
  for (;;) yield Buffer.alloc(64 * 1024);
}

describe('uploads without a Content-Length', () => {
  it('hold room for the files that they have begun, not for the largest upload (LIM-26)', async () => {
    const form = encodeForm([type(), file('file:0'), file('file:1')]);
    const unfinished: ReadableStreamDefaultController<Uint8Array>[] = [];
    const pending = Array.from({ length: 5 }, () =>
      sendChunked((controller) => {
        controller.enqueue(form.subarray(0, form.length - 100));
        unfinished.push(controller);
      }),
    );
    const complete = await sendChunked((controller) => {
      controller.enqueue(form);
      controller.close();
    });
    expect(complete.status).toBe(201);
    for (const controller of unfinished) {
      controller.enqueue(form.subarray(form.length - 100));
      controller.close();
    }
    expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  });

  it.each<[string, () => Part[]]>([
    ['a text', () => [type()]],
    ['a file of another name', () => [file('photo')]],
    ['what precedes the first part', () => []],
  ])('are 413 when %s does not end (UPL-14)', async (_name, parts) => {
    const before = await storedFiles();
    const form = encodeForm(parts());
    const sending = request(`${baseUrl}/builders/${client.builderId}/attachments/upload`, {
      method: 'POST',
      headers: createFormHeaders(),
    });
    const source = Readable.from(endless(form.subarray(0, -`\r\n--${BOUNDARY}--\r\n`.length)));
    onTestFinished(() => {
      source.destroy();
      sending.destroy();
    });
    source.pipe(sending);
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    source.destroy();
    const body = await json(answer);
    expect([answer.statusCode, body]).toMatchObject([413, { code: 'PAYLOAD_TOO_LARGE' }]);
    expect(await storedFiles()).toEqual(before);
  });
});

describe('POST /builders/{builderId}/attachments/upload', () => {
  it.each([
    ['type first', () => [type(), file()]],
    ['file first', () => [file(), type()]],
    ['type:0 and file:0', () => [type('type:0'), file('file:0')]],
    ['file:0 first', () => [file('file:0'), type('type:0')]],
    ['file with type:0', () => [type('type:0'), file()]],
    ['file:0 with type', () => [file('file:0'), type()]],
    ['both types', () => [type(), file(), type('type:0')]],
    ['among fields that nobody knows', () => [{ name: 'colour', body: 'red' }, file(), type()]],
  ])('answers 201 with a reference for a photo: %s (UPL-10)', async (_name, parts) => {
    const answer = await send('upload', encodeForm(parts()));
    expect(answer.statusCode).toBe(201);
    const { imageUrl, ...reference } = answer.json();
    expect(reference).toEqual({
      key: expect.stringContaining(`uploads/${client.builderId}/`),
      regionId: 'au1',
      type: 'attachment',
      fileName: 'site.jpg',
      contentType: 'image/jpeg',
    });
    expect((await client.download(imageUrl)).rawPayload.equals(image)).toBe(true);
    const photo = await client.createPhoto({ imageAttachment: reference });
    expect((await client.download(photo.imageUrl)).rawPayload.equals(image)).toBe(true);
  });

  it.each([
    ['neither a file nor a type', () => [{ name: 'colour', body: 'red' }], ['file', 'type']],
    ['a file without a type', () => [file('file:0')], ['type']],
    ['a type without a file', () => [type('type:0')], ['file']],
    ['a wrong type:0', () => [file('file:0'), type('type:0', 'photo')], ['type:0']],
    ['two types of which one is wrong', () => [file(), type(), type('type:0', 'photo')], ['type:0']],
    ['a file under another number', () => [file('file:1'), type()], ['file:1']],
  ])('is 400 with the invalid fields for %s (UPL-13)', async (_name, parts, fields) => {
    const answer = await send('upload', encodeForm(parts()));
    expect([answer.statusCode, errorsOf(answer)]).toEqual([400, fields]);
  });

  it('accepts one file: a second one is 400 on its field, with the limit (UPL-14)', async () => {
    for (const name of ['file:0', 'other']) {
      const answer = await send('upload', encodeForm([file(), file(name), type()]));
      const errors = [{ fieldName: name, message: 'is one file too many: the form may have at most 1' }];
      expect([answer.statusCode, answer.json()]).toEqual([400, { errors }]);
    }
  });

  it('needs no scope, and is 401, 403, 404 and 405 like other operations (UPL-1)', async () => {
    expect(
      (await send('upload', encodeForm([file(), type()]), undefined, await service.tokenOf('A', []))).statusCode,
    ).toBe(201);
    expect((await send('upload', encodeForm([file(), type()]), undefined, 'garbage')).statusCode).toBe(401);
    expect((await send('upload', encodeForm([file(), type()]), undefined, await service.tokenOf('B'))).statusCode).toBe(
      403,
    );
    expect(
      (await send('upload', encodeForm([file(), type()]), undefined, await service.tokenOf('internal'))).statusCode,
    ).toBe(403);
    for (const builder of ['buil_anone', 'nonsense']) {
      const url = `/builders/${builder}/attachments/upload`;
      const headers = { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=a' };
      expect((await service.request({ method: 'POST', url, headers, payload: 'a' })).statusCode).toBe(404);
    }
    const get = await client.send('GET', '/attachments/upload');
    expect([get.statusCode, get.headers.allow]).toEqual([405, 'POST']);
  });

  it('detects the type from the bytes if none is declared (UPL-12)', async () => {
    const png = await createPicture('png');
    const answer = await send(
      'upload',
      encodeForm([file('file', { type: 'application/octet-stream', body: png }), type()]),
    );
    expect(answer.json()).toMatchObject({ contentType: 'image/png' });
  });

  it('detects the type from the bytes of a part without a Content-Type (UPL-12)', async () => {
    const { type: _, ...part } = file('file', { body: await createPicture('png') });
    const answer = await send('upload', encodeForm([part, type()]));
    expect([answer.statusCode, answer.json()]).toMatchObject([201, { contentType: 'image/png' }]);
  });

  it.each<[string, () => Part[], string[]]>([
    ['no file', () => [type()], ['file']],
    ['no type', () => [file()], ['type']],
    ['neither', () => [{ name: 'a', body: 'b' }], ['file', 'type']],
    ['another type', () => [file(), type('type', 'photo')], ['type']],
    ['two types', () => [file(), type(), type()], ['type']],
    ['an empty file', () => [file('file', { body: '' }), type()], ['file']],
    ['a text file', () => [file('file', { type: 'text/plain', body: 'text' }), type()], ['file']],
    ['a PDF', () => [file('file', { type: 'application/pdf' }), type()], ['file']],
    ['a PDF without a type', () => [file('file', { type: 'application/pdf' })], ['type', 'file']],
    ['a file of another name without a type', () => [file('photo')], ['photo', 'type']],
    ['unknown bytes', () => [file('file', { type: 'application/octet-stream', body: 'text' }), type()], ['file']],
    ['a file of another name', () => [file('photo'), file(), type()].slice(0, 1).concat(type()), ['photo']],
    ['no file name', () => [file('file', { fileName: '' }), type()], ['file']],
    ['a path in the file name', () => [file('file', { fileName: '../../etc/passwd' }), type()], ['file']],
    ['a Windows path in the file name', () => [file('file', { fileName: '..\\\\boot.ini' }), type()], ['file']],
    ['NUL in the file name', () => [file('file', { fileName: 'a\0.jpg' }), type()], ['file']],
    ['a file name in Latin-1', () => [file('file', { fileName: LATIN1_NAME }), type()], ['file']],
    ['a long file name', () => [file('file', { fileName: 'a'.repeat(256) }), type()], ['file']],
    ['a long value', () => [file(), type('type', 'a'.repeat(2_000))], ['type']],
    ['a prototype', () => [file(), type('__proto__')], ['body']],
    ['a huge field name', () => [file(), type(), type('n'.repeat(5_000))], ['body']],
  ])('is 400 with %s, and stores nothing (UPL-13)', async (_name, parts, fields) => {
    const before = await storedFiles();
    const answer = await send('upload', encodeForm(parts()));
    expect([answer.statusCode, errorsOf(answer)], answer.body).toEqual([400, fields]);
    expect(await storedFiles()).toEqual(before);
  });

  it.each<[string, () => Buffer]>([
    ['very many fields', () => encodeForm(Array.from({ length: 3_000 }, (_, index) => type(`field-${index}`)))],
    ['more than 40 MiB', () => encodeForm([type(), file('file', { body: Buffer.alloc(41_943_041) })])],
  ])('is 413 with %s, and stores nothing (UPL-14)', async (_name, form) => {
    const before = await storedFiles();
    const answer = await send('upload', form());
    expect([answer.statusCode, answer.json().code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(await storedFiles()).toEqual(before);
  });

  it('is 413 with a Content-Length of more than one file (UPL-14)', async () => {
    const sending = request(`${baseUrl}/builders/${client.builderId}/attachments/upload`, {
      method: 'POST',
      headers: { ...createFormHeaders(), 'content-length': 41_943_040 + 1024 * 1024 + 1 },
    });
    onTestFinished(() => void sending.destroy());
    sending.flushHeaders();
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    const body = await json(answer);
    expect([answer.statusCode, body]).toMatchObject([413, { code: 'PAYLOAD_TOO_LARGE' }]);
  });

  it('accepts 40 MiB (UPL-14)', async () => {
    const body = Buffer.concat([image, Buffer.alloc(41_943_040 - image.length)]);
    const answer = await send('upload', encodeForm([type(), file('file', { body })]));
    expect(answer.statusCode).toBe(201);
  });

  it.each([
    ['no boundary', 'multipart/form-data', 400],
    ['an empty boundary', 'multipart/form-data; boundary=', 400],
    ['another boundary', 'multipart/form-data; boundary=other', 400],
    ['JSON', 'application/json', 415],
    ['another multipart', 'multipart/mixed; boundary=a-boundary-of-ours', 415],
  ])('rejects %s (UPL-14)', async (_name, contentType, status) => {
    const before = await storedFiles();
    expect((await send('upload', encodeForm([file(), type()]), contentType)).statusCode).toBe(status);
    expect(await storedFiles()).toEqual(before);
  });

  it('rejects a truncated form (UPL-14)', async () => {
    const before = await storedFiles();
    const form = encodeForm([type(), file()]);
    for (const left of [1, 5, 40, image.length + 60, form.length - 5, form.length]) {
      const answer = await send('upload', form.subarray(0, form.length - left));
      expect([400, 201].includes(answer.statusCode), `${left}: ${answer.body}`).toBe(true);
      // The last line break is not part of the form.
      if (left > 5) expect(answer.statusCode).toBe(400);
      else if (answer.statusCode === 201) return;
    }
    expect(await storedFiles()).toEqual(before);
  });
});

describe('POST /builders/{builderId}/attachments/bulk-upload', () => {
  it('answers 201 with every upload in the order of its number (UPL-11)', async () => {
    const png = await createPicture('png');
    const parts = [
      file('file:1', { body: png, type: 'image/png', fileName: 'two.png' }),
      type('type:1'),
      type('type:0'),
      file('file:0'),
    ];
    const answer = await send('bulk-upload', encodeForm(parts));
    expect(answer.statusCode).toBe(201);
    const { uploads } = answer.json();
    expect(uploads).toMatchObject([
      { fieldName: 'file:0', fileName: 'site.jpg', contentType: 'image/jpeg', type: 'attachment', regionId: 'au1' },
      { fieldName: 'file:1', fileName: 'two.png', contentType: 'image/png' },
    ]);
    for (const upload of uploads) {
      expect((await client.download(upload.imageUrl)).statusCode).toBe(200);
      await client.createPhoto({ imageAttachment: upload });
    }
  });

  it('accepts one type for all files, and 25 files (UPL-11)', async () => {
    const files = Array.from({ length: 25 }, (_, index) => file(`file:${index}`));
    expect((await send('bulk-upload', encodeForm([...files, type()]))).json().uploads).toHaveLength(25);
  });

  it.each<[string, () => Part[], string[]]>([
    ['no file', () => [type()], ['file:0']],
    ['a file without a type', () => [file('file:0'), type('type:0'), file('file:1')], ['type:1']],
    ['a wrong type', () => [file('file:0'), type('type:0', 'photo')], ['type:0']],
    [
      'two PDFs and unknown bytes',
      () => [
        type(),
        ...['file:0', 'file:1'].map((name) => file(name, { type: 'application/pdf' })),
        file('file:2', { type: 'application/octet-stream', body: 'text' }),
      ],
      ['file:0', 'file:1', 'file:2'],
    ],
    ['a bad file among good ones', () => [type(), file('file:0'), file('file:1', { body: '' })], ['file:1']],
    ['a file out of range', () => [type(), file('file:25')], ['file:25']],
    ['a file twice', () => [type(), file('file:0'), file('file:0')], ['file:0']],
  ])('is all or nothing: 400 with %s (UPL-11)', async (_name, parts, fields) => {
    const before = await storedFiles();
    const answer = await send('bulk-upload', encodeForm(parts()));
    expect([answer.statusCode, errorsOf(answer)], answer.body).toEqual([400, fields]);
    expect(await storedFiles()).toEqual(before);
  });

  it('is 400 with 26 files, on the field of the last one and with the limit (UPL-14)', async () => {
    const files = Array.from({ length: 26 }, (_, index) => file(`file:${index}`));
    const before = await storedFiles();
    const answer = await send('bulk-upload', encodeForm([...files, type()]));
    const errors = [{ fieldName: 'file:25', message: 'is one file too many: the form may have at most 25' }];
    expect([answer.statusCode, answer.json()]).toEqual([400, { errors }]);
    expect(await storedFiles()).toEqual(before);
  });
});

describe('any multipart body', () => {
  const parts = fc.array(
    fc.record(
      {
        name: fc.oneof(fc.constantFrom('file', 'type', 'file:0', 'type:0', '', 'constructor'), arbitraryText()),
        fileName: fc.oneof(fc.constantFrom('a.jpg', '../a', 'a\0b', '"', '\r\n'), arbitraryText()),
        type: fc.oneof(fc.constantFrom('image/jpeg', 'application/json', 'text/plain', ''), fc.string()),
        body: fc.oneof(
          fc.constant('attachment'),
          arbitraryText(),
          fc.uint8Array().map((b) => Buffer.from(b)),
        ),
      },
      { requiredKeys: ['name', 'body'] },
    ),
    { maxLength: 6 },
  );
  const mangled = fc.record({
    parts,
    cut: fc.nat(2_000),
    splice: fc.nat(2_000),
    junk: fc.uint8Array({ maxLength: 8 }),
  });

  it.each(['upload', 'bulk-upload'] as const)(
    'is 201, 400, 413 or 415 and leaves no stray file: %s',
    async (operation) => {
      await fc.assert(
        fc.asyncProperty(mangled, fc.boolean(), async ({ parts, cut, splice, junk }, whole) => {
          const form = encodeForm(parts as Part[]);
          const body = whole
            ? form
            : Buffer.concat([
                form.subarray(0, splice % form.length),
                Buffer.from(junk),
                form.subarray(cut % form.length),
              ]);
          const answer = await send(operation, body);
          expect([201, 400, 413, 415]).toContain(answer.statusCode);
        }),
        { numRuns: 80 },
      );
      expect(await readdir(join(service.dataDir, 'storage', 'spool'))).toEqual([]);
    },
  );

  it('is rejected if it is random bytes', async () => {
    for (let round = 0; round < 50; round++) {
      expect((await send('upload', randomBytes(500))).statusCode).toBe(400);
    }
  });
});
