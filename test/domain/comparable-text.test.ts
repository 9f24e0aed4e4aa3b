import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toComparableText } from '../../src/shared/comparable-text.ts';
import { createDatabase } from '../setup/database.ts';

let created: Awaited<ReturnType<typeof createDatabase>>;
let client: pg.Client;

beforeAll(async () => {
  created = await createDatabase();
  client = new pg.Client(created.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await created.drop();
});

/** Returns what the database's function makes of the texts. */
const compare = async (texts: string[]): Promise<string[]> => {
  const sql = 'select comparable_text(text) as text from unnest($1::text[]) with ordinality each (text, n) order by n';
  return (await client.query<{ text: string }>(sql, [texts])).rows.map(({ text }) => text);
};

describe('the comparable form of a text', () => {
  it.each([
    ['letters of any case', 'PRIYA NAIR', 'priya nair'],
    ['composed and decomposed letters', 'Zoe\u0308 Mu\u0308ller', 'ZOË MÜLLER'],
    ['German ß', 'Weiß', 'WEISS', 'weiẞ'],
    ['Turkish i', 'İlker ISIK', 'ilker ısık', 'i\u0307lker isik'],
    ['Turkish i with another mark', 'ì', 'i\u0307\u0300', 'İ\u0300', 'ı\u0300', 'i\u0307\u0307\u0300'],
    ['Greek sigma', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευς', 'οδυσσευσ'],
    ['white space', '  Tama\u00a0\u2003 Webb\r\n', 'tama webb', 'Tama\u2028Webb'],
    ['characters that are not shown', 'Ta\u00adma\u200b Webb', 'Tama Webb', '\u061cTama\ufe0f We\u034fb\u{e0062}b'],
    ['compatibility forms', 'Ｔａｍａ ﬁsher', 'tama fisher'],
    ['apostrophes and hyphens', 'O’Sullivan‐Smith', 'O‘Sullivan–Smith', "o'sullivan-smith"],
  ])('is one for %s', async (_what, ...spellings) => {
    expect(new Set(spellings.map(toComparableText)).size).toBe(1);
    expect(new Set(await compare(spellings)).size).toBe(1);
  });

  it.each([
    ['Tama', 'Tana'],
    ['Jose', 'José'],
    ['Sam Hill', 'SamHill'],
    ['Müller', 'Mueller'],
  ])('differs for %s and %s', (one, other) => expect(toComparableText(one)).not.toBe(toComparableText(other)));

  it('is the same in the database, for every character', async () => {
    // Planes 3 to 13 have no characters but ideographs.
    const points = [...Array(0x30000).keys(), ...Array.from({ length: 0x1000 }, (_, index) => 0xe0000 + index)].filter(
      (point) => point > 0 && (point < 0xd800 || point > 0xdfff),
    );
    const characters = points.map((point) => String.fromCodePoint(point));
    const marks = characters.filter((character) => /\p{Mark}/u.test(character));
    const texts = [
      ...characters.flatMap((character) => [`a${character}b`, `${character} `]),
      ...marks.flatMap((mark) => [`i\u0307${mark}`, `İ${mark}`, `ı${mark}`, `i${mark}\u0307`, `ß${mark}`]),
    ];
    const compared = await compare(texts);
    const different = texts.filter((text, index) => compared[index] !== toComparableText(text));
    expect(different).toEqual([]);
  });

  it('does not change again', async () => {
    const texts = ['İİ ßΣ ', 'ǰ ΐ', '\u0345ᾳ', 'İ\u0307', 'İ\u0300'].map(toComparableText);
    expect(texts.map(toComparableText)).toEqual(texts);
  });
});
