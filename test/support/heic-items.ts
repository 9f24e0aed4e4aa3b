import { box, u16, u32 } from './images.ts';

/** An item of a HEIF file. The first is the primary one. */
export interface HeicItem {
  type: 'grid' | 'iden' | 'iovl' | 'hvc1';
  data?: Buffer | number[];
  /** Numbers of the items that it refers to, by the kind of the reference: `dimg` are the images that it is derived from. */
  references?: Record<string, number[]>;
  /** Numbers of its properties, from one. */
  properties: number[];
}

/** Returns a HEIF file of items, numbered from one, whose data are all in the `idat` box. */
export function createHeicOfItems(items: HeicItem[], properties: Buffer[]): Buffer {
  const data: Buffer[] = [];
  const locations: number[][] = [];
  let offset = 0;
  items.forEach((item, index) => {
    if (!item.data) return;
    const { length } = item.data;
    data.push(Buffer.from(item.data));
    locations.push([...u16(index + 1), ...u16(1), ...u16(0), ...u16(1), ...u32(offset), ...u32(length)]);
    offset += length;
  });
  const references = items.flatMap((item, index) =>
    Object.entries(item.references ?? {}).map(([type, to]) =>
      box(type, u16(index + 1), u16(to.length), Buffer.from(to.flatMap(u16))),
    ),
  );
  const associations = items.flatMap((item, index) => [...u16(index + 1), item.properties.length, ...item.properties]);
  const described = items.map(({ type }, index) =>
    box('infe', u32(0x02000000), u16(index + 1), u16(0), Buffer.from(`${type}\0`)),
  );
  return Buffer.concat([
    box('ftyp', Buffer.from('heic\0\0\0\0mif1heic')),
    box(
      'meta',
      u32(0),
      box('hdlr', u32(0), u32(0), Buffer.from('pict'), Buffer.alloc(13)),
      box('pitm', u32(0), u16(1)),
      box('iinf', u32(0), u16(items.length), ...described),
      ...(references.length > 0 ? [box('iref', u32(0), ...references)] : []),
      box('iprp', box('ipco', ...properties), box('ipma', u32(0), u32(items.length), Buffer.from(associations))),
      box('idat', ...data),
      box('iloc', u32(0x01000000), u16(0x4400), u16(locations.length), Buffer.from(locations.flat())),
    ),
  ]);
}

/** Returns the first box of that type at any depth. */
export function findBox(file: Buffer, type: string): Buffer {
  const at = file.indexOf(type) - 4;
  return file.subarray(at, at + file.readUInt32BE(at));
}
