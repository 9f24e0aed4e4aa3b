import { ArgsType, type ClassType, Extensions, Field, Int, ObjectType } from 'type-graphql';
import { ListOrder } from './enums.ts';
import { Default, isSent, Rule } from './input-rules.ts';
import { ListCursor } from './list-cursor.scalar.ts';
import { OmittedUnlessCursor } from './rest.ts';
import { DEFAULT_LIMIT, MAX_LIMIT, PageLimit, PageOffset, RangeStart } from './scalars.ts';

/** Window of a list (LST-2, LST-13). */
@ArgsType()
export class WindowArgs {
  @Field(() => PageOffset, { nullable: true, description: 'Items to skip. Default 0.' })
  offset?: number | null;

  @Field(() => PageLimit, {
    nullable: true,
    description: `Items to return, 1 to ${MAX_LIMIT}. Default ${DEFAULT_LIMIT}.`,
  })
  limit?: number | null;

  @Field(() => ListCursor, {
    nullable: true,
    description:
      '`nextCursor` of the previous page, or empty for the first page; in place of `offset`. Every page takes the same time, wherever it is in the list.',
  })
  @Rule((values: WindowArgs) =>
    isSent(values, 'offset') && isSent(values, 'cursor')
      ? [{ fieldName: 'cursor', message: 'must not be sent together with offset' }]
      : [],
  )
  cursor?: string | null;

  @Field(() => ListOrder, {
    nullable: true,
    description: '`desc` returns the newest records first. A cursor is valid for the order that it was made with.',
  })
  @Default(ListOrder.asc)
  order?: ListOrder | null;
}

/** Window of a list whose records have a time of change. */
@ArgsType()
export class PageArgs extends WindowArgs {
  @Field(() => RangeStart, {
    nullable: true,
    description:
      'Only records that were written at this time or later, regardless of `updatedAt`. Use an overlap of one minute between reads.',
  })
  updatedSince?: string | null;
}

export interface PageWindow {
  offset: number;
  limit: number;
  /** Null where pages are counted by `offset`; empty for the first page. */
  cursor?: string | null;
  updatedSince?: string | null;
  /** Default: `asc`. */
  order?: ListOrder | null;
  /** Column by which a page by offset is ordered, of which there is an index. Default: that of the list. */
  orderBy?: string;
}

/** What a list is asked for: the arguments of clients, and the order. */
export type PageRequest = PageArgs & Pick<PageWindow, 'orderBy'>;

/** Returns the window with defaults for absent values. */
export const toPageWindow = (request: PageRequest): PageWindow => {
  const { offset, limit, cursor, updatedSince, order, orderBy } = request;
  return { offset: offset ?? 0, limit: limit ?? DEFAULT_LIMIT, cursor, updatedSince, order, orderBy };
};

@ObjectType({ description: 'Position of the page in the list.', simpleResolvers: true })
export class PageMeta {
  @Field(() => Int, { description: 'Items in the whole list.' })
  totalCount!: number;

  @Field(() => Int, { description: 'Pages of `limit` items in the whole list.' })
  totalPages!: number;

  @Field(() => Int, { description: 'Items skipped.' })
  offset!: number;

  @Field(() => Int, { description: 'Maximum items of this page.' })
  limit!: number;

  @Field(() => ListCursor, {
    nullable: true,
    description: 'The value of `cursor` for the next page; null on the last one. Present only when `cursor` was sent.',
  })
  @OmittedUnlessCursor()
  nextCursor?: string | null;
}

export interface Page<T> {
  data: T[];
  meta: PageMeta;
}

/** Returns a page of a list with its metadata. */
export function createPage<T>(
  data: T[],
  totalCount: number,
  { offset, limit }: PageWindow,
  nextCursor: string | null = null,
): Page<T> {
  return { data, meta: { totalCount, totalPages: Math.ceil(totalCount / limit), offset, limit, nextCursor } };
}

const pageTypes = new Map<ClassType, ClassType>();

/**
 * Returns the list envelope `{ data, meta }` of an item type: `ProjectPage` for `Project`.
 *
 * @param by what the items are in the order of.
 */
export function createPageType<T extends object, M extends object = PageMeta>(
  item: ClassType<T>,
  metaType: ClassType<M> = PageMeta as never,
  by = 'time of creation',
): ClassType<{ data: T[]; meta: M }> {
  let type = pageTypes.get(item);
  if (!type) {
    @ObjectType(`${item.name}Page`, { description: `A page of a list of ${item.name}.`, simpleResolvers: true })
    @Extensions({ envelope: true })
    class ItemPage {
      @Field(() => [item], { description: `Items of the page, by ${by}.` })
      data!: T[];

      @Field(() => metaType)
      meta!: M;
    }
    type = ItemPage;
    pageTypes.set(item, type);
  }
  return type as ClassType<{ data: T[]; meta: M }>;
}

/** A page whose total was not counted. Reading its `meta` is a mistake of the caller, and throws. */
export class PageWithoutTotal<T> implements Page<T> {
  readonly data: T[];

  constructor(data: T[]) {
    this.data = data;
  }

  get meta(): PageMeta {
    throw new Error('The total was not counted, because the selection does not include it.');
  }
}
