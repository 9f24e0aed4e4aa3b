import { ArgsType, type ClassType, Extensions, Field, Int, ObjectType } from 'type-graphql';
import { DEFAULT_LIMIT, MAX_LIMIT, PageLimit, PageOffset } from './scalars.ts';

/** Window of a list (LST-2). */
@ArgsType()
export class PageArgs {
  @Field(() => PageOffset, { nullable: true, description: 'Items to skip. Default 0.' })
  offset?: number | null;

  @Field(() => PageLimit, {
    nullable: true,
    description: `Items to return, 1 to ${MAX_LIMIT}. Default ${DEFAULT_LIMIT}.`,
  })
  limit?: number | null;
}

/** Returns the window with defaults for absent values. */
export function windowOf(args: PageArgs): { offset: number; limit: number } {
  return { offset: args.offset ?? 0, limit: args.limit ?? DEFAULT_LIMIT };
}

@ObjectType({ description: 'Where the page stands in the whole list.', simpleResolvers: true })
export class PageMeta {
  @Field(() => Int, { description: 'Items in the whole list.' })
  totalCount!: number;

  @Field(() => Int, { description: 'Pages of `limit` items in the whole list.' })
  totalPages!: number;

  @Field(() => Int, { description: 'Items skipped.' })
  offset!: number;

  @Field(() => Int, { description: 'Most items that this page could hold.' })
  limit!: number;
}

export interface Page<T> {
  data: T[];
  meta: PageMeta;
}

/** Returns a page of a list with its metadata. */
export function createPage<T>(data: T[], totalCount: number, window: { offset: number; limit: number }): Page<T> {
  const totalPages = Math.ceil(totalCount / window.limit);
  return { data, meta: { totalCount, totalPages, offset: window.offset, limit: window.limit } };
}

const pageTypes = new Map<ClassType, ClassType>();

/** Returns the list envelope `{ data, meta }` of an item type: `ProjectPage` for `Project`. */
export function PageOf<T extends object>(item: ClassType<T>): ClassType<Page<T>> {
  let type = pageTypes.get(item);
  if (!type) {
    @ObjectType(`${item.name}Page`, { description: `A page of a list of ${item.name}.`, simpleResolvers: true })
    @Extensions({ envelope: true })
    class ItemPage {
      @Field(() => [item], { description: 'Items of the page in the order in which they were created.' })
      data!: T[];

      @Field(() => PageMeta)
      meta!: PageMeta;
    }
    type = ItemPage;
    pageTypes.set(item, type);
  }
  return type as ClassType<Page<T>>;
}
