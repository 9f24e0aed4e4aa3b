import type { MetadataStorage } from '@mikro-orm/core';
import pg from 'pg';
import { builderCondition } from '../domain/privacy/erase-builder.ts';
import { listPersonalTables, quote } from '../domain/privacy/personal-tables.ts';
import type { FileMapping } from './file-mapping.ts';

/**
 * Returns a function that gives the SQL condition of the rows of a file that belong to the builder. Users are its members, and integrators
 * those that its records refer to.
 */
export function createBuilderFilter(
  metadata: MetadataStorage,
  mappings: readonly FileMapping[],
  builderId: string,
): (mapping: FileMapping) => string {
  const tables = listPersonalTables(metadata);
  const literal = pg.escapeLiteral(builderId);
  return ({ file, table }) => {
    if (file === 'users.ndjson') return `id in (select user_id from membership where builder_id = ${literal})`;
    if (file === 'integrators.ndjson') {
      const owned = mappings.filter(({ builder, references }) => builder && references.some(isIntegrator));
      const selects = owned.map((mapping) => {
        const { column } = mapping.references.find(isIntegrator)!;
        return `select ${column.name} from ${mapping.table} where ${mapping.builder!.name} = ${literal}`;
      });
      return `id in (${selects.join(' union all ')})`;
    }
    const found = tables.find((each) => quote(each.table) === table)!;
    return builderCondition(found, tables)?.replaceAll('$1', () => literal) ?? 'false';
  };
}

const isIntegrator = ({ parent }: { parent: FileMapping }) => parent.file === 'integrators.ndjson';
