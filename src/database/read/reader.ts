import { Tracked } from '../../../entities/columns.ts';
import {
  createPage,
  type Page,
  type PageRequest,
  type PageWindow,
  PageWithoutTotal,
  toPageWindow,
} from '../../../schema/page.ts';
import { type DateRangeArgs, toDateRange } from '../../../schema/range.ts';
import type { Selection } from '../../../schema/selection.ts';
import type { TextRow } from '../pool/pg-pipeline.ts';
import { MAX_PREPARED_SELECTIONS } from '../pool/statement-runner.ts';
import { type AppliedFilter, type FilterDefinition, isRange, type Where } from './filter.ts';
import { addLargeValues } from './large-values.ts';
import { type CursorScope, decodeListCursor, encodeListCursor, type ListPosition, readAfter } from './list-cursor.ts';
import type { ReadDatabase } from './read-database.ts';
import { type PreparedRead, prepareRead, type ReadKind, type ReadOptions, shortDigest } from './read-statement.ts';
import { RowMapper } from './row-mapper.ts';
import { toZoneFilters } from './zone-day.ts';

export interface ReaderOptions<Filter extends string> extends ReadOptions<Filter> {
  /** Filters whose values depend on the caller's connections, to which a cursor is not bound. */
  callerFilters?: Filter[];
  /** Prefix of the statements' names. Default: the entity's name, which one reader per entity may use. */
  name?: string;
}

/** The id of a record and of its builder. */
export interface Identity {
  id: string;
  builderId: string;
}

type Class<T> = new (...args: never[]) => T;

/** The filters of a read that have a value, their names as part of the statement's name, and the values. */
interface AppliedFilters {
  filters: AppliedFilter[];
  names: string;
  values: Where;
}

/** A parameter with one value per batch element. */
interface Keys {
  name: string;
  values: readonly string[];
}

/** Filter of every list whose records have a time of change (LST-14). */
const UPDATED_SINCE = { updatedSince: { column: 'changed_at', op: 'from' } } as const;

/** Pages from this offset on are slow reads. */
const DEEP_OFFSET = 500;

/**
 * Rows of a range from which on pages after a cursor are read in the list's order: the rows from the position on are fewer than those of the
 * range. 20,000 rows of a range are found and sorted in about 10 ms.
 */
const WIDE_RANGE = 20_000;

/**
 * Typed reads of one entity. Its statements are prepared once per connection, have bound parameters, and run in batches across the
 * parents of a request and across requests.
 */
export class Reader<T extends object, Filter extends string = never> {
  readonly name: string;
  readonly entity: Class<T>;
  readonly #options: ReaderOptions<Filter>;
  readonly #filters: [name: string, definition: FilterDefinition][];
  readonly #preparedReads = new Map<string, PreparedRead>();
  readonly #selectedReaders = new Map<string, Reader<T, Filter>>();
  /** Whether this reads the properties of a selection only. */
  readonly #isSelection: boolean;
  #mapper: RowMapper | null = null;
  #largeRead: PreparedRead | null = null;
  /** Whether it reads nothing but the properties of an `Identity`. */
  #readsOnlyIdentity: boolean | null = null;

  constructor(entity: Class<T>, options: ReaderOptions<Filter> = {}, isSelection = false) {
    this.name = options.name ?? entity.name;
    this.entity = entity;
    const updatedSince = entity.prototype instanceof Tracked ? UPDATED_SINCE : {};
    const { startDate } = (options.filters ?? {}) as Record<string, FilterDefinition>;
    const zone = startDate && 'column' in startDate ? toZoneFilters(startDate.column) : {};
    const filters = { ...options.filters, ...zone, ...updatedSince } as ReadOptions<Filter>['filters'];
    this.#options = { ...options, filters };
    this.#filters = Object.entries<FilterDefinition>(this.#options.filters ?? {});
    this.#isSelection = isSelection;
  }

  /** Returns a reader of the selected properties; this reader, which reads all, when `selection` is null. */
  select(selection: Selection | null): Reader<T, Filter> {
    if (!selection) return this;
    let reader = this.#selectedReaders.get(selection.key);
    if (!reader) {
      const [oldest] = this.#selectedReaders.keys();
      if (this.#selectedReaders.size === MAX_PREPARED_SELECTIONS) this.#selectedReaders.delete(oldest!);
      const name = `${this.name}~${shortDigest(selection.key)}`;
      const options: ReaderOptions<Filter> = {
        ...this.#options,
        name,
        fields: selection.paths,
        skipTotal: !selection.total,
      };
      reader = new Reader(this.entity, options, true);
      this.#selectedReaders.set(selection.key, reader);
    }
    return reader;
  }

  /** Returns the page of the matching rows that the arguments of a list ask for, with their total. */
  async findPage(database: ReadDatabase, where: Where<Filter>, args: PageRequest): Promise<Page<T>> {
    const [page] = await this.#fetchPages(database, where, toPageWindow(args));
    return page!;
  }

  /** Returns a page for each key; `parent` is the filter whose values the keys are. */
  findPages(
    database: ReadDatabase,
    parent: Filter,
    keys: readonly string[],
    where: Where<Filter>,
    window: PageWindow,
  ): Promise<Page<T>[]> {
    return this.#fetchPages(database, where, window, { name: parent, values: keys });
  }

  /** Returns the record with the id; null when there is none that matches. */
  async findOne(database: ReadDatabase, id: string, where: Where<Filter> = {}): Promise<T | null> {
    const [row] = await this.findMany(database, [id], where);
    return row!;
  }

  /** Returns the records with the ids, in their order; null for each that is not found or does not match. */
  async findMany(database: ReadDatabase, ids: readonly string[], where: Where<Filter> = {}): Promise<(T | null)[]> {
    const applied = this.#applyFilters(where);
    const prepared = this.#prepare(database, 'one', applied);
    const rowLists = await this.#fetchRows(database, prepared, applied.values, { name: 'id', values: ids });
    return rowLists.map(([row]) => (row ? (prepared.mapper.toRecord(row, 1) as T) : null));
  }

  /** Returns the record without a query when only properties of the identity are read; else null. */
  fromIdentity(database: ReadDatabase, identity: Identity): T | null {
    const { properties, toRecord } = this.#getMapper(database);
    this.#readsOnlyIdentity ??= properties.every((name) => Object.hasOwn(identity, name));
    if (!this.#readsOnlyIdentity) return null;
    const row = properties.map((name) => identity[name as keyof Identity]);
    return toRecord(row, 0) as T;
  }

  /** Returns all matching records, in the list's order. For lists without pages. */
  async findAll(database: ReadDatabase, where: Where<Filter>): Promise<T[]> {
    const applied = this.#applyFilters(where);
    const prepared = this.#prepare(database, 'all', applied);
    const [rows] = await this.#fetchRows(database, prepared, applied.values);
    return this.#toRecords(prepared, rows!, 1);
  }

  async #fetchPages(database: ReadDatabase, where: Where, window: PageWindow, keys?: Keys): Promise<Page<T>[]> {
    const { skipTotal } = this.#options;
    const { offset, limit, cursor, updatedSince } = window;
    if (updatedSince != null && !(this.entity.prototype instanceof Tracked)) {
      throw new Error(`${this.entity.name} has no time of change: let it extend Tracked.`);
    }
    const zoned = where.timeZone == null ? where : { ...where, ...toDateRange(where as DateRangeArgs) };
    const all = updatedSince == null ? zoned : { ...zoned, updatedSince };
    const applied = this.#applyFilters(all, keys?.name);
    if (cursor != null) return this.#fetchPagesByCursor(database, applied, window, keys);
    const kind = offset >= DEEP_OFFSET ? 'deep' : 'page';
    const prepared = this.#prepare(database, kind, applied, window.order === 'desc', window.orderBy);
    const rowLists = await this.#fetchRows(database, prepared, { ...applied.values, offset, limit }, keys);
    const pages: Page<T>[] = [];
    for (const rows of rowLists) {
      const data = this.#toRecords(prepared, rows, 2);
      pages.push(skipTotal ? new PageWithoutTotal(data) : createPage(data, Number(rows[0]![1]), window));
    }
    return pages;
  }

  /** Reads one record more than the page, to know whether there is a next one. */
  async #fetchPagesByCursor(
    database: ReadDatabase,
    applied: AppliedFilters,
    window: PageWindow,
    keys?: Keys,
  ): Promise<Page<T>[]> {
    const { skipTotal, callerFilters = [] } = this.#options;
    const isDescending = window.order === 'desc';
    const own = Object.entries(applied.values).filter(([name]) => !callerFilters.includes(name as Filter));
    const scopes = (keys?.values ?? [null]).map((key): CursorScope => {
      const parent = keys && { [keys.name]: key };
      // A cursor is not bound to the selected fields, whose digest follows the separator: see `select`.
      return { list: this.name.split('~', 1)[0]!, isDescending, filters: { ...Object.fromEntries(own), ...parent } };
    });
    // A cursor is bound to one parent, so that it is wrong for every other one.
    const [position] = scopes.map((scope) => decodeListCursor(scope, window.cursor!));
    const kind = this.#chooseCursorRead(applied.filters, position ?? null);
    const after = position && { afterValue: position.afterValue, afterId: position.afterId };
    const prepared = this.#prepare(database, kind, applied, isDescending);
    const values = { ...applied.values, ...after, limit: window.limit + 1, offset: 0 };
    const rowLists = await readAfter(position, this.#fetchRows(database, prepared, values, keys));
    return rowLists.map((rows, index) => {
      const [counted] = rows[0]![1]!.split('|');
      const total = counted || (position?.total ?? '');
      const hasNext = rows.length > window.limit;
      if (hasNext) rows.length = window.limit;
      const [, afterValue, afterId] = rows.at(-1)![1]!.split('|') as [string, string, string];
      const next = hasNext ? encodeListCursor(scopes[index]!, { afterValue, afterId, total }) : null;
      const data = this.#toRecords(prepared, rows, 2);
      return skipTotal ? new PageWithoutTotal(data) : createPage(data, Number(total), window, next);
    });
  }

  /** Later pages have the total of the first one, unless that was read without. */
  #chooseCursorRead(filters: AppliedFilter[], position: ListPosition | null): ReadKind {
    if (!position) return 'first';
    if (position.total === '') return this.#options.skipTotal ? 'next' : 'counted';
    return filters.some(isRange) && Number(position.total) > WIDE_RANGE ? 'ordered' : 'next';
  }

  /** Skips the row of an empty page, in which the left join leaves the columns null. */
  #toRecords({ mapper: { toRecord, nonNullColumnIndex } }: PreparedRead, rows: TextRow[], start: number): T[] {
    const records: T[] = [];
    for (const row of rows) {
      if (row[start + nonNullColumnIndex] !== null) records.push(toRecord(row, start) as T);
    }
    return records;
  }

  #prepare(
    database: ReadDatabase,
    kind: ReadKind,
    { filters, names }: AppliedFilters,
    isDescending = false,
    orderBy?: string,
  ): PreparedRead {
    const name = `${this.name}.${kind}${orderBy ? `.${orderBy}` : ''}${isDescending ? '.desc' : ''}(${names})`;
    // PostgreSQL keeps named statements on every connection, and the number of possible selections is unbounded.
    const isNamed = !this.#isSelection || database.runner.tryReserveName(name);
    const key = isNamed ? name : `unnamed ${name}`;
    let prepared = this.#preparedReads.get(key);
    if (!prepared) {
      const mapper = this.#getMapper(database);
      const options = orderBy ? { ...this.#options, orderBy } : this.#options;
      prepared = prepareRead(isNamed ? name : '', { kind, isDescending, filters, mapper, options });
      this.#preparedReads.set(key, prepared);
    }
    return prepared;
  }

  #getMapper({ metadata }: ReadDatabase): RowMapper {
    this.#mapper ??= new RowMapper(metadata.get(this.entity), this.#options);
    return this.#mapper;
  }

  /** Returns the rows for each of the keys, or one list of rows without keys. */
  async #fetchRows(database: ReadDatabase, prepared: PreparedRead, where: Where, keys?: Keys): Promise<TextRow[][]> {
    if (keys?.values.length === 0) return [];
    const { runner, slowRunner, limits } = database;
    const { statement, parameterNames, mapper } = prepared;
    const values: unknown[] = [];
    for (const name of parameterNames) values.push(where[name] ?? null);
    const keyIndex = keys ? parameterNames.indexOf(keys.name) : -1;
    const parameters = keys ? keys.values.map((key) => values.with(keyIndex, key)) : [values];
    const readAlone = () => slowRunner.executeRows(statement, parameters);
    const reading = !prepared.isSlow
      ? runner.executeBatched(statement, parameters)
      : limits
        ? limits.runSlowRead(readAlone)
        : readAlone();
    if (!mapper.omitsLargeValues) return reading;
    const rowLists = await reading;
    // The bytes of the row's large values, which are not among its columns.
    for (const rows of rowLists)
      for (const row of rows)
        if (row.at(-1) != null)
          return addLargeValues(database, prepared, rowLists, () => this.#prepareLargeRead(database));
    return rowLists;
  }

  /** Returns the read of a record with its large values. */
  #prepareLargeRead({ metadata }: ReadDatabase): PreparedRead {
    if (!this.#largeRead) {
      const mapper = new RowMapper(metadata.get(this.entity), this.#options, false);
      const read = { kind: 'one', isDescending: false, filters: [], mapper, options: this.#options } as const;
      this.#largeRead = prepareRead(`${this.name}.large()`, read);
    }
    return this.#largeRead;
  }

  /**
   * Returns the filters that have a value, and the values. A list of one value is that value, whose rows an index has in the list's order.
   *
   * @param key filter whose values are the keys
   */
  #applyFilters(where: Where, key?: string): AppliedFilters {
    const values = { ...where };
    const filters: AppliedFilter[] = [];
    let names = '';
    for (const [name, definition] of this.#filters) {
      const value = values[name];
      if (value == null && name !== key) continue;
      if ('op' in definition && Array.isArray(value) && value.length === 1) values[name] = value[0];
      const isList = 'op' in definition && Array.isArray(values[name]);
      filters.push({ name, definition, isList });
      names += `${names && ','}${name}${isList ? '[]' : ''}`;
    }
    return { filters, names, values };
  }
}
