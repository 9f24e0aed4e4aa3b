import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntityClass, EntityMetadata, EntityProperty } from '@mikro-orm/core';
import { entities } from '../../entities/index.ts';
import { findIdKind, ID_PREFIXES } from '../../schema/ids.ts';
import { fileDefinitions } from '../../src/data-transfer/file-definitions.ts';
import type { Database } from '../../src/database/database.ts';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';

const FILES = await readdir(join(PACKAGE_ROOT, 'test/samples/company'));

/** Entities with an identifier that have no rows in test/samples/company, and therefore no hand-written rows anywhere in the tests. */
export const generatedEntities = (entities as EntityClass<object>[]).filter((entity) => {
  const definition = fileDefinitions.find((one) => one.entity === entity);
  return findIdKind(entity.name) !== null && definition !== undefined && !FILES.includes(`${definition.file}.ndjson`);
});

/** Name of the scalar of an entity's identifiers: `PermitId`. */
export const idScalarOf = (entity: EntityClass<object>) => `${entity.name}Id`;

/** Values that cannot be generated, by entity and property: `{ Permit: { area: { north: 1 } } }`. */
const VALUES: Record<string, Record<string, unknown>> = {};

const AT = '2026-03-02T07:30:00.000Z';

/**
 * Inserts a valid row of the builder into each table of `generatedEntities` in which it has none, from the columns that the entities
 * declare. Returns the ids by the names of their scalars.
 *
 * @param suffix of the new ids.
 * @param samples ids by scalar that foreign keys prefer.
 */
export async function insertGeneratedRows(
  database: Database,
  builderId: string,
  suffix: string,
  samples: Record<string, string> = {},
): Promise<Record<string, string>> {
  const em = database.fork();
  const ids: Record<string, string> = {};
  /** The preferred id, else the first of the builder. */
  const findId = async (meta: EntityMetadata): Promise<string | undefined> => {
    if (meta.className === 'Builder') return builderId;
    const preferred = { ...samples, ...ids }[`${meta.className}Id`];
    if (preferred || !meta.properties.builderId) return preferred;
    const [row] = await em.execute<{ id: string }[]>(
      `select id from "${meta.tableName}" where builder_id = ? order by id limit 1`,
      [builderId],
    );
    return row?.id;
  };
  for (const entity of generatedEntities) {
    const meta = database.metadata.get(entity) as EntityMetadata;
    const existing = await findId(meta);
    const id = existing ?? `${ID_PREFIXES[findIdKind(entity.name)!]}_${suffix}`;
    if (!existing) await em.insert(entity, (await generateRow(meta, id, findId)) as never);
    ids[idScalarOf(entity)] = id;
  }
  return ids;
}

async function generateRow(
  meta: EntityMetadata,
  id: string,
  findId: (target: EntityMetadata) => Promise<string | undefined>,
): Promise<Record<string, unknown>> {
  const row: Record<string, unknown> = { id };
  for (const property of meta.props as EntityProperty[]) {
    const { name, nullable, persist, defaultRaw, targetMeta } = property;
    if (name === 'id' || persist === false || defaultRaw !== undefined) continue;
    const value = VALUES[meta.className]?.[name];
    if (value !== undefined) row[name] = value;
    else if (nullable) row[name] = null;
    else if (targetMeta) {
      row[name] = await findId(targetMeta);
      if (row[name] === undefined) {
        throw createMissingSampleError(
          meta.className,
          `${name} leads to ${targetMeta.className}, of which the builder has no row`,
        );
      }
    } else row[name] = generateValue(meta.className, property, id);
  }
  return row;
}

function generateValue(className: string, { name, items, columnTypes }: EntityProperty, id: string): unknown {
  const type = columnTypes[0]!;
  const isList = type.endsWith('[]');
  if (isList) return [];
  if (items) return items[0];
  if (/^(text|varchar|character varying)/.test(type)) return `Sample ${id}`;
  if (/^(int|smallint|bigint|double|float|numeric|real)/.test(type)) return 1;
  if (type === 'boolean') return false;
  if (/^(timestamp|date)/.test(type)) return AT;
  throw createMissingSampleError(
    className,
    `no value can be generated for ${name}, a column of type ${type} without a default`,
  );
}

/** Returns the error of a test that needs a sample of which there is none. */
export const createMissingSampleError = (className: string, reason: string) =>
  new Error(
    `There is no sample of ${className}Id: ${reason}. Add a value to VALUES in test/support/generated-rows.ts.`,
  );
