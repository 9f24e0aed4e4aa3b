import type { EntityMetadata, EntityProperty, MetadataStorage } from '@mikro-orm/core';
import { getPersonalData, type PersonalDataDeclaration } from '../../entities/personal-data.ts';
import { quote } from '../domain/privacy/personal-tables.ts';
import { type ColumnType, findColumnType } from './column-types.ts';
import { readContractFields } from './contract-fields.ts';
import * as types from './field-types.ts';
import type { FileDefinition } from './file-definitions.ts';

/** One field of a file and its column. */
export interface Column {
  field: string;
  /** Quoted for SQL. */
  name: string;
  type: ColumnType;
  fieldType: types.FieldType;
  nullable: boolean;
  /** SQL of the default; null if there is none. */
  default: string | null;
  description: string;
  /** Whether an absent value or null leaves the stored one unchanged. */
  keepsStoredValue: boolean;
}

/** A foreign key, or a list of ids, to another file or the same one. */
export interface Reference {
  column: Column;
  parent: FileMapping;
}

/** Mapping of one file to its table. */
export interface FileMapping extends Pick<FileDefinition, 'normalizeRow' | 'validateRow' | 'crossRecordRule'> {
  /** `projects.ndjson` */
  file: string;
  /** Quoted. */
  table: string;
  /** Type of the ids; null for rows that are identified by unique foreign keys. */
  id: types.FieldType | null;
  columns: Column[];
  /** Columns that identify a row: its id, or its unique foreign keys. */
  key: Column[];
  references: Reference[];
  listReferences: Reference[];
  /** Column with the row's builder; null if the row has no builder, or has it only through its parents. */
  builder: Column | null;
  /** API fields computed from others, which an import ignores. */
  ignoredFields: Set<string>;
  secretFields: Set<string>;
  /** Columns with keys of stored files. */
  storageKeys: Column[];
  /** SQL of the size of its file. */
  fileSize: string;
  /** What its columns say about people. */
  personal: PersonalDataDeclaration;
  /** SQL condition of the rows that are exported. */
  exportCondition: string;
}

/** Creates the mappings in the order of the definitions. Throws if an entity cannot be mapped as declared. */
export function createFileMappings(metadata: MetadataStorage, fileDefinitions: FileDefinition[]): FileMapping[] {
  const mappings = new Map<string, FileMapping>();
  for (const definition of fileDefinitions) {
    const meta = metadata.get(definition.entity) as EntityMetadata;
    mappings.set(meta.className, createFileMapping(meta, definition, mappings));
  }
  return [...mappings.values()];
}

function createFileMapping(
  meta: EntityMetadata,
  definition: FileDefinition,
  mappings: Map<string, FileMapping>,
): FileMapping {
  const apiFields = readContractFields(meta.class as never);
  const persistedProperties = (meta.props as EntityProperty[]).filter(
    ({ name, persist, autoincrement, hidden }) =>
      persist !== false && !autoincrement && !hidden && !definition.secretFields?.includes(name),
  );
  const { exportCondition = 'true', normalizeRow, validateRow, crossRecordRule } = definition;
  const mapping: FileMapping = {
    file: `${definition.file}.ndjson`,
    table: quote(meta.tableName),
    id: definition.id === undefined ? null : types.id(definition.id),
    columns: [],
    key: [],
    references: [],
    listReferences: [],
    builder: null,
    ignoredFields: new Set(apiFields.keys()),
    secretFields: new Set(definition.secretFields),
    storageKeys: [],
    fileSize: 'null::int',
    personal: getPersonalData(meta.className),
    exportCondition,
    normalizeRow,
    validateRow,
    crossRecordRule,
  };
  const key = findKeyProperties(meta, definition);
  for (const property of persistedProperties) {
    const { name, targetMeta } = property;
    const parent = targetMeta?.className === meta.className ? mapping : mappings.get(targetMeta?.className ?? '');
    if (targetMeta && !parent?.id) {
      throw new Error(
        `${meta.className}.${name} refers to ${targetMeta.className}, which must have an id and an earlier file.`,
      );
    }
    const id = parent?.id ?? (key.includes(name) ? mapping.id : null);
    const column = createColumn(property, definition, apiFields, id);
    mapping.columns.push(column);
    mapping.ignoredFields.delete(column.field);
    if (key.includes(name)) mapping.key.push(column);
    if (definition.storageKeys?.[name]) mapping.storageKeys.push(column);
    if (name === 'fileSize') mapping.fileSize = column.name;
    if (parent) mapping.references.push({ column, parent });
    if (parent?.file === 'builders.ndjson') mapping.builder ??= column;
    const linkedEntity = definition.listReferences?.[name];
    if (linkedEntity) mapping.listReferences.push({ column, parent: mappings.get(linkedEntity.name)! });
  }
  const stamps = ['createdAt', 'updatedAt'].flatMap((name) => mapping.columns.filter(({ field }) => field === name));
  const first = [...mapping.key, ...stamps];
  mapping.columns = [...first, ...mapping.columns.filter((column) => !first.includes(column))];
  return mapping;
}

type ApiFields = ReturnType<typeof readContractFields>;

function createColumn(
  property: EntityProperty,
  definition: FileDefinition,
  apiFields: ApiFields,
  id: types.FieldType | null,
): Column {
  const { name } = property;
  const folder = definition.storageKeys?.[name];
  const propertyPath = `${definition.entity.name}.${name}`;
  const field = definition.fieldNames?.[name] ?? name;
  const apiField = apiFields.get(field);
  const type = findColumnType(property.columnTypes[0]!);
  if (!type) throw new Error(`${propertyPath}: columns of type ${property.columnTypes[0]} are not supported.`);
  const fieldType =
    definition.fieldTypes?.[name]?.() ??
    id ??
    (property.items ? createColumnEnumType(property, type) : undefined) ??
    type.fieldType ??
    apiField?.fieldType() ??
    type.fallback;
  if (!fieldType) throw new Error(`${propertyPath}: its file definition must declare the field type of its JSON.`);
  return {
    field,
    name: quote(property.fieldNames[0]!),
    type,
    fieldType,
    nullable: property.nullable === true,
    default: property.defaultRaw ?? null,
    description:
      definition.descriptions?.[name] ??
      (folder ? `Key of a file under \`files/${folder}/\`.` : (apiField?.description ?? '')),
    keepsStoredValue:
      (folder !== undefined && property.nullable === true) || definition.keptFields?.includes(name) === true,
  };
}

function createColumnEnumType({ items }: EntityProperty, type: ColumnType): types.FieldType {
  const one = types.createEnumType(items as string[]);
  return type.sql.endsWith('[]') ? types.list(one) : one;
}

/** Returns the primary key, or without an id the first unique constraint over plain columns. */
function findKeyProperties(meta: EntityMetadata, { id }: FileDefinition): string[] {
  if (id) return meta.primaryKeys as string[];
  const uniqueConstraint = meta.uniques.find(
    ({ properties, where, expression }) => properties && !where && !expression,
  );
  if (!uniqueConstraint)
    throw new Error(`${meta.className} has neither an id nor a unique constraint that identifies its rows.`);
  return [uniqueConstraint.properties].flat() as string[];
}
