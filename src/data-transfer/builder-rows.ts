import type { MetadataStorage } from '@mikro-orm/core';
import pg from 'pg';
import { isCleanText } from '../../schema/text.ts';
import { builderCondition } from '../domain/privacy/erase-builder.ts';
import { listPersonalTables, quote } from '../domain/privacy/personal-tables.ts';
import type { Folder } from '../shared/folder.ts';
import { type FileDefinition, fileDefinitions } from './file-definitions.ts';
import { createFileMappings, type FileMapping } from './file-mapping.ts';
import { type Row, readRows } from './read-lines.ts';
import { toJoinCondition } from './statements.ts';

/** Files whose records no single builder owns. */
const SHARED = ['users.ndjson', 'integrators.ndjson'];

/** Returns SQL of the ids of users whom records of other builders name. */
export const selectForeignUsers = (mappings: readonly FileMapping[], builderId: string): string =>
  selectNamedIds(mappings, 'users.ndjson', `<> ${pg.escapeLiteral(builderId)}`);

/** Returns SQL of the ids in a shared file that records of builders name. @param builders SQL condition of the builder's id: `= 'buil_a1'` */
const selectNamedIds = (mappings: readonly FileMapping[], file: string, builders: string): string =>
  mappings
    .flatMap(({ table, builder, references }) =>
      references
        .filter(({ parent }) => builder && parent.file === file)
        .map(({ column }) => `select ${column.name} from ${table} where ${builder!.name} ${builders}`),
    )
    .join(' union all ');

/**
 * Returns a function that gives the SQL condition of the rows of a file that belong to the builder. Users and integrators are those that its
 * records refer to: members, and authors of reports who have left the builder.
 */
export function createBuilderFilter(
  metadata: MetadataStorage,
  mappings: readonly FileMapping[],
  builderId: string,
): (mapping: FileMapping) => string {
  const tables = listPersonalTables(metadata);
  const literal = pg.escapeLiteral(builderId);
  return ({ file, table }) => {
    if (SHARED.includes(file)) return `id in (${selectNamedIds(mappings, file, `= ${literal}`)})`;
    const found = tables.find((each) => quote(each.table) === table)!;
    return builderCondition(found, tables)?.replaceAll('$1', () => literal) ?? 'false';
  };
}

/**
 * Returns a function that gives SQL which removes the staged rows of a file that an import for one builder leaves out: rows of other builders,
 * also those that would take a stored record from them, users and integrators that none of its rows names, users whom records of other
 * builders name too, and integrators that exist. It returns the number of valid rows among them.
 */
export async function createStageFilter(
  metadata: MetadataStorage,
  mappings: readonly FileMapping[],
  folder: Folder,
  builderId: string,
): Promise<(mapping: FileMapping) => string> {
  const conditionOf = createBuilderFilter(metadata, mappings, builderId);
  const named = await findNamedIds(mappings, folder, builderId);
  const isNamed = `id = any(array[${[...named].map((id) => pg.escapeLiteral(id)).join()}]::text[])`;
  const ofOthers = selectForeignUsers(mappings, builderId);
  const toCondition = (mapping: FileMapping) => {
    if (mapping.file === 'integrators.ndjson')
      return `${isNamed} and not exists (select from integrator t where t.id = import_stage.id)`;
    if (mapping.file === 'users.ndjson') return `${isNamed} and (id in (${ofOthers})) is not true`;
    const condition = conditionOf(mapping);
    const others = `select from (select * from ${mapping.table} where (${condition}) is not true) t`;
    return `${condition} and not exists (${others} where ${toJoinCondition('t', 'import_stage', mapping.key)})`;
  };
  return (
    mapping,
  ) => `with removed as (delete from import_stage where (${toCondition(mapping)}) is not true returning __ok)
    select count(*)::int as "leftOut" from removed where __ok`;
}

/** Returns whether an import for one builder leaves a row out, as far as the folder says: of a builder, a user, or with a `builderId`. */
export async function createLeftOutPredicate(
  metadata: MetadataStorage,
  folder: Folder,
  builderId: string,
): Promise<(definition: FileDefinition, row: Row) => boolean> {
  const named = await findNamedIds(createFileMappings(metadata, fileDefinitions), folder, builderId);
  return ({ id: kind }, row) =>
    kind === 'user' ? !named.has(row.id as string) : (kind === 'builder' ? row.id : row.builderId) !== builderId;
}

/** Collects the users and integrators that rows of the builder in the folder refer to. Invalid rows are skipped; the import reports them. */
async function findNamedIds(
  mappings: readonly FileMapping[],
  folder: Folder,
  builderId: string,
): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  for (const { file, builder, references } of mappings) {
    const fields = references.flatMap(({ column, parent }) => (SHARED.includes(parent.file) ? [column.field] : []));
    const source = builder && fields.length > 0 ? await folder.openFile(file) : null;
    if (!source) continue;
    await readRows(source.createReadStream(), (row) => {
      if (row[builder!.field] !== builderId) return;
      for (const id of fields.map((field) => row[field])) if (typeof id === 'string' && isCleanText(id)) named.add(id);
    });
  }
  return named;
}
