import type { EntityMetadata, EntityProperty, MetadataStorage } from '@mikro-orm/core';
import { type ColumnType, columnTypeOf } from './column-types.ts';
import { contractFields } from './contract.ts';
import type { Resource } from './resources.ts';
import * as shapes from './shapes.ts';

/** One field of a file and its column. */
export interface Column {
  field: string;
  /** Quoted, as SQL wants it. */
  name: string;
  type: ColumnType;
  shape: shapes.Shape;
  nullable: boolean;
  /** SQL of the value that an absent field gets; null where there is none. */
  default: string | null;
  meaning: string;
  /** Whether a row without a value leaves the record the one that it has. */
  keeps: boolean;
}

/** A foreign key to another file, or to the same one; or a list of ids that lead there. */
export interface Reference {
  column: Column;
  parent: Plan;
}

/** How one file maps to its table. */
export interface Plan {
  /** `projects.ndjson` */
  file: string;
  /** Quoted. */
  table: string;
  /** Shape of the rows' ids; null for rows that are known by their unique foreign keys. */
  id: shapes.Shape | null;
  columns: Column[];
  /** What a row is known by: its id, or its unique foreign keys. */
  key: Column[];
  references: Reference[];
  links: Reference[];
  /** The column that names the builder of the row; null for a row of no builder, or known only through its parents. */
  owner: Column | null;
  /** Fields of the API that are worked out from others, and are therefore passed over. */
  derived: Set<string>;
  withheld: Set<string>;
  inspect: Resource['inspect'];
  whole: Resource['whole'];
}

/** The files of the format in the order of the list. Throws when an entity cannot be exchanged as declared. */
export function buildPlans(metadata: MetadataStorage, resources: Resource[]): Plan[] {
  const plans = new Map<string, Plan>();
  for (const resource of resources) {
    const meta = metadata.get(resource.entity) as EntityMetadata;
    plans.set(meta.className, buildPlan(meta, resource, plans));
  }
  return [...plans.values()];
}

const quote = (name: string) => `"${name}"`;

function buildPlan(meta: EntityMetadata, resource: Resource, plans: Map<string, Plan>): Plan {
  const contract = contractFields(meta.class as never);
  const carried = (meta.props as EntityProperty[]).filter(
    ({ name, persist, autoincrement }) => persist !== false && !autoincrement && !resource.withheld?.includes(name),
  );
  const plan: Plan = {
    file: `${resource.file}.ndjson`,
    table: quote(meta.tableName),
    id: resource.id === undefined ? null : shapes.id(resource.id),
    columns: [],
    key: [],
    references: [],
    links: [],
    owner: null,
    derived: new Set(contract.keys()),
    withheld: new Set(resource.withheld),
    inspect: resource.inspect,
    whole: resource.whole,
  };
  const key = keyProperties(meta, resource);
  for (const property of carried) {
    const { name, targetMeta } = property;
    const parent = targetMeta?.className === meta.className ? plan : plans.get(targetMeta?.className ?? '');
    if (targetMeta && !parent?.id) {
      throw new Error(
        `${meta.className}.${name} leads to ${targetMeta.className}, of which no file before tells the ids.`,
      );
    }
    const column = buildColumn(property, resource, contract, parent?.id ?? (key.includes(name) ? plan.id : null));
    plan.columns.push(column);
    plan.derived.delete(column.field);
    if (key.includes(name)) plan.key.push(column);
    if (parent) plan.references.push({ column, parent });
    if (parent?.file === 'builders.ndjson') plan.owner ??= column;
    const linked = resource.links?.[name];
    if (linked) plan.links.push({ column, parent: plans.get(linked.name)! });
  }
  const stamps = ['createdAt', 'updatedAt'].flatMap((name) => plan.columns.filter(({ field }) => field === name));
  const first = [...plan.key, ...stamps];
  plan.columns = [...first, ...plan.columns.filter((column) => !first.includes(column))];
  return plan;
}

type Contract = ReturnType<typeof contractFields>;

function buildColumn(
  property: EntityProperty,
  resource: Resource,
  contract: Contract,
  id: shapes.Shape | null,
): Column {
  const { name } = property;
  const folder = resource.files?.[name];
  const place = `${resource.entity.name}.${name}`;
  const field = resource.names?.[name] ?? name;
  const shown = contract.get(field);
  const type = columnTypeOf(property.columnTypes[0]!);
  if (!type) throw new Error(`${place}: columns of type ${property.columnTypes[0]} cannot be exchanged yet.`);
  const shape =
    resource.shapes?.[name]?.() ??
    id ??
    (property.items ? enumShape(property, type) : undefined) ??
    type.shape ??
    shown?.shape() ??
    type.fallback;
  if (!shape) throw new Error(`${place}: the list of resources must declare the shape of its JSON.`);
  return {
    field,
    name: quote(property.fieldNames[0]!),
    type,
    shape,
    nullable: property.nullable === true,
    default: property.defaultRaw ?? null,
    meaning:
      resource.meanings?.[name] ?? (folder ? `Key of a file under \`files/${folder}/\`.` : (shown?.description ?? '')),
    keeps: folder !== undefined && property.nullable === true,
  };
}

function enumShape({ items }: EntityProperty, type: ColumnType): shapes.Shape {
  const one = shapes.oneOf(items as string[]);
  return type.sql.endsWith('[]') ? shapes.list(one) : one;
}

/** The id, or else the first unique constraint over whole columns. */
function keyProperties(meta: EntityMetadata, { id }: Resource): string[] {
  if (id) return meta.primaryKeys as string[];
  const natural = meta.uniques.find(({ properties, where, expression }) => properties && !where && !expression);
  if (!natural) throw new Error(`${meta.className} has neither an id nor a unique constraint to know its rows by.`);
  return [natural.properties].flat() as string[];
}
