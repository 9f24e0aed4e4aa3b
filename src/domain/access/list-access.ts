import { type EntityClass, type EntityProperty, raw } from '@mikro-orm/core';
import { Builder } from '../../../entities/builder.entity.ts';
import { ClientSecret } from '../../../entities/client-secret.entity.ts';
import { Connection, ConnectionStatus } from '../../../entities/connection.entity.ts';
import { ImageHost } from '../../../entities/image-host.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { ClientType, OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { type ChangeContext, requireRow } from '../change-context.ts';
import { InvalidInputError } from './invalid-input-error.ts';
import { requireUser } from './users.ts';

/** A page of a list in the order of its key, which for identifiers is that of creation. */
export interface AccessPage {
  limit: number;
  /** Key of the last row of the previous page; absent for the first page. */
  cursor?: string;
  /** Default: `asc`. */
  order?: 'asc' | 'desc';
}

type ReadContext = Pick<ChangeContext, 'database'>;

/** Returns the condition of a filter with the value. */
// biome-ignore lint/suspicious/noExplicitAny: each filter has the type of its own value.
type ToCondition = (value: any, context: ReadContext) => object | Promise<object>;

/** Texts that contain the part in their comparable form. */
const contains = (column: string) => (part: string) => ({
  [raw<string>((alias) => `comparable_text(${alias}.${column})`)]: {
    $like: `%${toComparableText(part).replace(/[\\%_]/g, '\\$&')}%`,
  },
});

/** Rows whose columns have words that begin with each of the given ones. */
const hasWords =
  (...columns: string[]) =>
  (words: string) => ({
    [raw<string>(
      (alias) => {
        const text = columns.map((column) => `${alias}.${column}`).join(" || ' ' || ");
        return `search_vector('', ${text}) @@ search_query('', ?)`;
      },
      [words],
    )]: [],
  });

const equals = (property: string) => (value: string) => ({ [property]: value });
const isPresent = (property: string) => (present: boolean) => ({ [property]: present ? { $ne: null } : null });
const hasScope = (scope: string) => ({ scopes: { $contains: [scope] } });

/** Values of the enum, in lower case. */
const isChoice = (property: string, choices: object) => (text: string) => {
  if (text.toUpperCase() in choices) return { [property]: text.toUpperCase() };
  const names = Object.keys(choices).join(', ').toLowerCase();
  throw new InvalidInputError(property, `"${text.toLowerCase()}" is not one of ${names}`);
};

const isClientType = isChoice('type', ClientType);

/** Declares a list. A page has the rows under the name, and the cursor of the next page. Undefined filters are left out. */
function declareList<T extends object, V, Name extends string, Filters extends Record<string, ToCondition>>(
  name: Name,
  entity: EntityClass<T>,
  toValue: (row: T) => V,
  filters: Filters,
  key = 'id' as keyof T & string,
) {
  return async (
    context: ReadContext,
    values: { [Filter in keyof Filters]?: Parameters<Filters[Filter]>[0] },
    { limit, cursor, order = 'asc' }: AccessPage,
  ) => {
    const { database } = context;
    const properties = database.metadata.get(entity).properties as Record<string, EntityProperty>;
    const isNumber = properties[key]?.runtimeType === 'number';
    if (isNumber && cursor !== undefined && !/^\d{1,9}$/.test(cursor))
      throw new InvalidInputError('cursor', `"${cursor}" is not the cursor of a page`);
    const after = { [order === 'asc' ? '$gt' : '$lt']: isNumber ? Number(cursor) : cursor };
    const conditions: object[] = cursor === undefined ? [] : [{ [key]: after }];
    for (const [filter, toCondition] of Object.entries(filters))
      if (values[filter] !== undefined) conditions.push(await toCondition(values[filter], context));
    const options = { orderBy: { [key]: order } as never, limit: limit + 1 };
    const rows = (await database.fork().find(entity, { $and: conditions } as never, options)) as T[];
    const page = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? String(page.at(-1)![key]) : null;
    return { [name]: page.map(toValue), nextCursor } as { [rows in Name]: V[] } & { nextCursor: string | null };
  };
}

export const toIntegrator = ({ id: integratorId, ...integrator }: Integrator) => ({ integratorId, ...integrator });

export const toClient = ({ id: clientId, internal, ...client }: OAuthClient) => ({
  clientId,
  ...client,
  type: internal ? 'internal' : client.type.toLowerCase(),
});

export const toConnection = ({ id: _, activeAfter: __, ...connection }: Connection) => connection;

const toUser = ({ id, name, email, staffRole, passwordHash, disabledAt, createdAt, updatedAt }: User) => ({
  userId: id,
  name,
  email,
  staffRole,
  hasPassword: passwordHash !== null,
  disabledAt,
  createdAt,
  updatedAt,
});

export const toMembership = ({ id: _, ...membership }: Membership) => membership;

const toImageHost = (host: ImageHost) => ({ ...host });

export interface BuilderFilter {
  /** Only this builder. */
  id?: string;
  /** Part of the name. */
  name?: string;
}

/** Returns builders by name, and how many match. */
export async function listBuilders({ database }: ReadContext, { id, name }: BuilderFilter, limit: number) {
  const where = { ...(id !== undefined && { id }), ...(name && contains('name')(name)) };
  const [rows, totalCount] = await database
    .fork()
    .findAndCount(Builder, where, { orderBy: { name: 'asc', id: 'asc' }, limit });
  return { rows, totalCount };
}

export const listIntegrators = declareList('integrators', Integrator, toIntegrator, {
  name: contains('name'),
  search: hasWords('name'),
});

/** Returns an integrator with the ids of its clients and its connections. */
export async function showIntegrator(context: ReadContext, id: string) {
  const em = context.database.fork();
  const integrator = await requireRow(context, em, Integrator, 'integrator', id);
  const clients = await em.find(OAuthClient, { integratorId: id }, { orderBy: { id: 'asc' } });
  const connections = await em.find(Connection, { integratorId: id }, { orderBy: { id: 'asc' } });
  return { ...toIntegrator(integrator), clients: clients.map(toClient), connections: connections.map(toConnection) };
}

export const listClients = declareList('clients', OAuthClient, toClient, {
  name: contains('name'),
  search: hasWords('name'),
  integratorId: equals('integratorId'),
  type: (type: string) => (type === 'internal' ? { internal: true } : { internal: false, ...isClientType(type) }),
  scope: hasScope,
  disabled: isPresent('disabledAt'),
});

/** Returns a client with its integrator's name and the times of its valid secrets. */
export async function showClient(context: ReadContext, id: string) {
  const em = context.database.fork();
  const client = await requireRow(context, em, OAuthClient, 'client', id);
  const integrator = client.integratorId === null ? null : await em.findOne(Integrator, { id: client.integratorId });
  const secrets = await em.find(ClientSecret, { clientId: id }, { orderBy: { createdAt: 'desc', id: 'desc' } });
  return {
    ...toClient(client),
    integratorName: integrator?.name ?? null,
    secrets: secrets.map(({ id: secretId, createdAt }) => ({ secretId, createdAt })),
  };
}

export const listConnections = declareList('connections', Connection, toConnection, {
  integratorId: equals('integratorId'),
  builderId: equals('builderId'),
  status: isChoice('status', ConnectionStatus),
  scope: hasScope,
});

export async function showConnection(context: ReadContext, key: { integratorId: string; builderId: string }) {
  const connection = await context.database.fork().findOne(Connection, key);
  if (!connection)
    throw new InvalidInputError('builderId', `${key.integratorId} was never connected to ${key.builderId}`);
  return toConnection(connection);
}

export const listUsers = declareList('users', User, toUser, {
  email: contains('email'),
  name: contains('name'),
  search: hasWords('name', 'email'),
  builderId: async (builderId: string, { database }) => {
    const members = await database.fork().find(Membership, { builderId });
    return { id: { $in: members.map(({ userId }) => userId) } };
  },
  disabled: isPresent('disabledAt'),
  staff: isPresent('staffRole'),
  password: isPresent('passwordHash'),
});

/** Returns a user, given by id or e-mail address, with the memberships. */
export async function showUser(context: ReadContext, who: string) {
  const em = context.database.fork();
  const user = await requireUser(context, em, who);
  const memberships = await em.find(Membership, { userId: user.id }, { orderBy: { builderId: 'asc' } });
  return { ...toUser(user), memberships: memberships.map(({ builderId, role }) => ({ builderId, role })) };
}

export const listMemberships = declareList('memberships', Membership, toMembership, {
  user: async (user: string, context) => ({ userId: (await showUser(context, user)).userId }),
  builderId: equals('builderId'),
  role: equals('role'),
});

export async function showMembership(context: ReadContext, { user, builderId }: { user: string; builderId: string }) {
  const { userId } = await showUser(context, user);
  const membership = await context.database.fork().findOne(Membership, { userId, builderId });
  if (!membership) throw new InvalidInputError('user', `${user} is not a member of ${builderId}`);
  return toMembership(membership);
}

export const listImageHosts = declareList('hosts', ImageHost, toImageHost, { host: contains('host') }, 'host');

export async function showImageHost(context: ReadContext, name: string) {
  const host = await context.database.fork().findOne(ImageHost, { host: name.toLowerCase() });
  if (!host) throw new InvalidInputError('host', `${name} is not approved in ${context.database.region}`);
  return toImageHost(host);
}
