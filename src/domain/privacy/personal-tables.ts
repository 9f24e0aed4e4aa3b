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
}

/** Returns every table, referenced tables first. */
export function listPersonalTables(metadata: MetadataStorage): PersonalTable[] {
  return entities.map((entity) => {
    const meta = metadata.get(entity as never) as EntityMetadata;
    const persisted = (meta.props as EntityProperty[]).filter(({ persist }) => persist !== false);
    const columns = new Map(persisted.map((property) => [property.name as string, property]));
    const columnOf = (property: string) => columns.get(property)?.fieldNames[0];
    const { className, tableName: table } = meta;
    const primaryKey = columnOf(meta.primaryKeys[0]!)!;
    return { className, table, primaryKey, declaration: getPersonalData(className), columns, columnOf };
  });
}

/** Formats what erasing a person does to each table as a Markdown table. */
export function formatErasureTable(metadata: MetadataStorage): string {
  const rows = listPersonalTables(metadata).flatMap(({ table, declaration }) => {
    const { of = {}, erase, ...columns } = declaration;
    const effects = EFFECTS.flatMap(([group, effect]) => {
      const properties = columns[group] ?? [];
      return properties.length > 0 ? [`${effect}: ${properties.map((name) => `\`${name}\``).join(', ')}`] : [];
    });
    if (erase === 'delete') effects.splice(0, effects.length, 'row deleted');
    if (erase === 'audit') effects.splice(0, effects.length, 'person replaced by the pseudonym');
    if (effects.length === 0 && Object.keys(of).length > 0) effects.push('kept');
    return effects.length > 0
      ? [`| \`${table}\` | ${Object.keys(of).join(', ') || '–'} | ${effects.join('; ')} |`]
      : [];
  });
  return ['| Table | Rows about a | Effect |', '|---|---|---|', ...rows].join('\n');
}

const EFFECTS = [
  ['name', 'pseudonym'],
  ['email', 'address without an owner'],
  ['cleared', 'cleared'],
  ['file', 'file deleted'],
  ['secret', 'cleared'],
  ['mentions', 'name replaced in the text'],
] as const;

export const quote = (name: string): string => `"${name}"`;

export const isJson = (property: EntityProperty): boolean => property.columnTypes[0]!.startsWith('jsonb');
