import type { EntityMetadata, EntityProperty, MetadataStorage } from '@mikro-orm/core';
import { entities } from '../../../entities/index.ts';
import { getPersonalData, type PersonalDataDeclaration } from '../../../entities/personal-data.ts';

/** A table with its declaration of personal data. */
export interface PersonalTable {
  className: string;
  table: string;
  /** Column; the first one of a composite key. */
  primaryKey: string;
  declaration: PersonalDataDeclaration;
  /** Columns by property. */
  columns: ReadonlyMap<string, EntityProperty>;
  /** Returns the column of a property; undefined if there is none. */
  columnOf: (property: string) => string | undefined;
  /** SQL of a row's builder: null for what belongs to none. */
  builder: string;
}

/** Returns every table, referenced tables first. */
export const listPersonalTables = (metadata: MetadataStorage): PersonalTable[] =>
  entities.map((entity) => {
    const meta = metadata.get(entity as never) as EntityMetadata;
    const persisted = (meta.props as EntityProperty[]).filter(({ persist }) => persist !== false);
    const columns = new Map(persisted.map((property) => [property.name as string, property]));
    const columnOf = (property: string) => columns.get(property)?.fieldNames[0];
    const { className, tableName: table } = meta;
    const primaryKey = columnOf(meta.primaryKeys[0]!)!;
    const builder = className === 'Builder' ? 'id' : (columnOf('builderId') ?? 'null');
    return { className, table, primaryKey, declaration: getPersonalData(className), columns, columnOf, builder };
  });

export const quote = (name: string): string => `"${name}"`;

export const isJson = (property: EntityProperty): boolean => property.columnTypes[0]!.startsWith('jsonb');
