import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { DocumentStore } from '../../src/graphql/server/document-store.ts';

const createDocument = (length: number) => parse(`{ me { id } } #${'x'.repeat(length - 15)}`);

describe('the document store', () => {
  it('keeps the most recently used documents, up to 250,000 characters', async () => {
    const store = new DocumentStore();
    for (const key of ['a', 'b', 'c', 'd']) await store.set(key, createDocument(60_000));
    await store.get('a');
    await store.set('e', createDocument(60_000));
    expect(await store.get('a')).toBeDefined();
    expect(await store.get('b')).toBeUndefined();
    await store.set('f', createDocument(240_000));
    expect(await store.get('e')).toBeUndefined();
    expect(await store.get('f')).toBeDefined();
  });

  it('frees the characters of replaced and deleted documents', async () => {
    const store = new DocumentStore();
    for (let times = 0; times < 9; times++) await store.set('a', createDocument(100_000));
    await store.set('b', createDocument(100_000));
    expect(await store.get('a')).toBeDefined();
    expect([await store.delete('a'), await store.delete('a')]).toEqual([true, false]);
    await store.set('c', createDocument(140_000));
    expect(await store.get('b')).toBeDefined();
  });

  it('does not keep a document that alone exceeds the limit', async () => {
    const store = new DocumentStore();
    await store.set('a', createDocument(250_001));
    expect(await store.get('a')).toBeUndefined();
  });
});
