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
}

type ReadContext = Pick<ChangeContext, 'database'>;

type RowPage<Name extends string, V> = { [rows in Name]: V[] } & { nextCursor: string | null };

interface Listing<T> {
  page: AccessPage;
  /** Key of the list and its cursor. */
  key?: keyof T & string;
  /** Undefined values are left out. */
  where?: Record<string, unknown>;
  texts?: TextFilter;
}

/** Returns the rows of a page under the name, and the cursor of the next page. */
async function listRows<T extends object, V, Name extends string>(
  { database }: ReadContext,
  entity: EntityClass<T>,
  { page: { limit, cursor }, key = 'id' as keyof T & string, where = {}, texts = {} }: Listing<T>,
  name: Name,
  toValue: (row: T) => V,
): Promise<RowPage<Name, V>> {
  const isNumber =
    (database.metadata.get(entity).properties as Record<string, EntityProperty>)[key]?.runtimeType === 'number';
  if (isNumber && cursor !== undefined && !/^\d{1,9}$/.test(cursor))
    throw new InvalidInputError('cursor', `"${cursor}" is not the cursor of a page`);
  const after = cursor === undefined ? {} : { [key]: { $gt: isNumber ? Number(cursor) : cursor } };
  const conditions = Object.fromEntries(Object.entries(where).filter(([, value]) => value !== undefined));
  const rows = await database.fork().find(entity, { $and: [conditions, after, ...toTextConditions(texts)] } as never, {
    orderBy: { [key]: 'asc' } as never,
    limit: limit + 1,
  });
  const page = (rows as T[]).slice(0, limit);
  const nextCursor = rows.length > limit ? String(page.at(-1)![key]) : null;
  return { [name]: page.map(toValue), nextCursor } as RowPage<Name, V>;
}

/** Parts of texts, by column. */
type TextFilter = Record<string, string | undefined>;

/** Matches texts that contain the parts in their comparable form. */
function toTextConditions(texts: TextFilter) {
  const given = Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.map(([column, part]) => ({
    [raw<string>((alias) => `comparable_text(${alias}.${column})`)]: {
      $like: `%${toComparableText(part).replace(/[\\%_]/g, '\\$&')}%`,
    },
  }));
}

const toPresenceFilter = (isPresent: boolean | undefined) =>
  isPresent === undefined ? undefined : isPresent ? { $ne: null } : null;

export interface BuilderFilter {
  /** Only this builder. */
  id?: string;
  /** Part of the name. */
  name?: string;
}

/** Returns builders by name, and how many match. */
export async function listBuilders({ database }: ReadContext, { id, name }: BuilderFilter, limit: number) {
  const where = { $and: [id === undefined ? {} : { id }, ...toTextConditions({ name: name || undefined })] };
  const [rows, totalCount] = await database
    .fork()
    .findAndCount(Builder, where, { orderBy: { name: 'asc', id: 'asc' }, limit });
  return { rows, totalCount };
}

/** @param filter.name part of the name */
export const listIntegrators = (context: ReadContext, { name }: { name?: string }, page: AccessPage) =>
  listRows(context, Integrator, { page, texts: { name } }, 'integrators', toIntegrator);

/** Returns an integrator with the ids of its clients and its connections. */
export async function showIntegrator(context: ReadContext, id: string) {
  const em = context.database.fork();
  const integrator = await requireRow(context, em, Integrator, 'integrator', id);
  const clients = await em.find(OAuthClient, { integratorId: id }, { orderBy: { id: 'asc' } });
  const connections = await em.find(Connection, { integratorId: id }, { orderBy: { id: 'asc' } });
  return { ...toIntegrator(integrator), clients: clients.map(toClient), connections: connections.map(toConnection) };
}

interface ClientFilter {
  name?: string;
  integratorId?: string;
  type?: string;
  scope?: string;
  disabled?: boolean;
}

export async function listClients(context: ReadContext, filter: ClientFilter, page: AccessPage) {
  const { name, integratorId, type, scope, disabled } = filter;
  const isInternal = type === 'internal';
  const where = {
    integratorId,
    disabledAt: toPresenceFilter(disabled),
    internal: type === undefined ? undefined : isInternal,
    type: type === undefined || isInternal ? undefined : parseChoice('type', type.toUpperCase(), ClientType),
    scopes: scope === undefined ? undefined : { $contains: [scope] },
  };
  return listRows(context, OAuthClient, { page, where, texts: { name } }, 'clients', toClient);
}

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

interface ConnectionFilter {
  integratorId?: string;
  builderId?: string;
  status?: string;
  scope?: string;
}

export async function listConnections(context: ReadContext, filter: ConnectionFilter, page: AccessPage) {
  const { integratorId, builderId, status, scope } = filter;
  const where = {
    integratorId,
    builderId,
    status: status === undefined ? undefined : parseChoice('status', status.toUpperCase(), ConnectionStatus),
    scopes: scope === undefined ? undefined : { $contains: [scope] },
  };
  return listRows(context, Connection, { page, where }, 'connections', toConnection);
}

export async function showConnection(context: ReadContext, key: { integratorId: string; builderId: string }) {
  const connection = await context.database.fork().findOne(Connection, key);
  if (!connection)
    throw new InvalidInputError('builderId', `${key.integratorId} was never connected to ${key.builderId}`);
  return toConnection(connection);
}

interface UserFilter {
  /** Part of the e-mail address. */
  email?: string;
  name?: string;
  /** Members of this builder. */
  builderId?: string;
  disabled?: boolean;
  staff?: boolean;
  /** Whether a password is set. */
  password?: boolean;
}

export async function listUsers(context: ReadContext, filter: UserFilter, page: AccessPage) {
  const { email, name, builderId, disabled, staff, password } = filter;
  const em = context.database.fork();
  const members =
    builderId === undefined ? undefined : (await em.find(Membership, { builderId })).map(({ userId }) => userId);
  const where = {
    id: members && { $in: members },
    disabledAt: toPresenceFilter(disabled),
    staffRole: toPresenceFilter(staff),
    passwordHash: toPresenceFilter(password),
  };
  return listRows(context, User, { page, where, texts: { email, name } }, 'users', toUser);
}

/** Returns a user, given by id or e-mail address, with the memberships. */
export async function showUser(context: ReadContext, who: string) {
  const em = context.database.fork();
  const user = await requireUser(context, em, who);
  const memberships = await em.find(Membership, { userId: user.id }, { orderBy: { builderId: 'asc' } });
  return { ...toUser(user), memberships: memberships.map(({ builderId, role }) => ({ builderId, role })) };
}

interface MembershipFilter {
  /** Id or e-mail address. */
  user?: string;
  builderId?: string;
  role?: string;
}

export async function listMemberships(context: ReadContext, filter: MembershipFilter, page: AccessPage) {
  const { user, builderId, role } = filter;
  const userId = user === undefined ? undefined : (await showUser(context, user)).userId;
  return listRows(context, Membership, { page, where: { userId, builderId, role } }, 'memberships', toMembership);
}

export async function showMembership(context: ReadContext, { user, builderId }: { user: string; builderId: string }) {
  const { userId } = await showUser(context, user);
  const membership = await context.database.fork().findOne(Membership, { userId, builderId });
  if (!membership) throw new InvalidInputError('user', `${user} is not a member of ${builderId}`);
  return toMembership(membership);
}

export const listImageHosts = (context: ReadContext, { host }: { host?: string }, page: AccessPage) =>
  listRows(context, ImageHost, { page, key: 'host', texts: { host } }, 'hosts', toImageHost);

export async function showImageHost(context: ReadContext, name: string) {
  const host = await context.database.fork().findOne(ImageHost, { host: name.toLowerCase() });
  if (!host) throw new InvalidInputError('host', `${name} is not approved in ${context.database.region}`);
  return toImageHost(host);
}

function parseChoice<T extends Record<string, string>>(field: string, text: string, choices: T): string {
  if (text in choices) return text;
  throw new InvalidInputError(
    field,
    `"${text.toLowerCase()}" is not one of ${Object.keys(choices).join(', ').toLowerCase()}`,
  );
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
