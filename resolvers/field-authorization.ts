import { type GraphQLFieldConfig, type GraphQLObjectType, getNamedType } from 'graphql';
import { Builder } from '../entities/builder.entity.ts';
import { createRuleCheck } from '../schema/input-rules.ts';
import type { Scope } from '../schema/scopes.ts';
import { recordType } from '../schema/selection.ts';
import type { Caller } from '../src/auth/caller.ts';
import type { RequestContext } from '../src/auth/request-context.ts';
import { findBrokenRules } from '../src/graphql/engine/arguments.ts';
import { type FieldEdge, type ResolverFactory, toFieldResolver } from '../src/graphql/engine/resolver-factories.ts';
import { ValidationError } from '../src/shared/errors.ts';

export type Field = GraphQLFieldConfig<unknown, RequestContext>;
/** Returns a resolver factory of an edge that throws 400 for arguments which break a rule that their types cannot express. */
export function validateArguments(
  { args }: Field,
  createResolver: ResolverFactory<RequestContext> | null,
): ResolverFactory<RequestContext> | null {
  const checked = Object.entries(args ?? {})
    .map(([name, argument]) => ({ rules: createRuleCheck(name, argument as never) }))
    .filter(({ rules }) => rules);
  if (!createResolver || checked.length === 0) return createResolver;
  return (values, context, info) => {
    const sent = checked.filter(({ rules }) => rules!.ifSent === null || rules!.ifSent in values);
    const errors = sent.length > 0 ? findBrokenRules(sent, values, context.clock.now()) : [];
    if (errors.length > 0) throw new ValidationError(errors);
    return createResolver(values, context, info);
  };
}

/**
 * Adds the authorization of a field that leads to records: it needs the scope of their type, in the token and in the connection of the
 * builder that each record belongs to. ACC-15.
 */
export function authorizeEdge(
  field: Field,
  name: string,
  factory: ResolverFactory<RequestContext> | null,
  parent: GraphQLObjectType,
): Field {
  const scope = recordType(field.type).extensions.scope as Scope | undefined;
  const needsScope = scope !== undefined && !parent.extensions.envelope;
  if (!factory && !needsScope) return field;
  const createResolver = factory ?? (() => (source) => (source as Record<string, unknown>)[name]);
  const edge: FieldEdge<RequestContext> = needsScope
    ? { createResolver, scope, ...scopeChecks(field, scope) }
    : { createResolver };
  return {
    ...field,
    resolve: toFieldResolver(edge),
    extensions: { ...field.extensions, resolved: factory !== null, edge },
  };
}

function scopeChecks(
  field: Field,
  scope: Scope,
): Pick<FieldEdge<RequestContext>, 'authorizeParent' | 'authorizeResult'> {
  const inEnvelope = Boolean(getNamedType(field.type).extensions.envelope);
  return {
    authorizeParent(source, { caller }) {
      caller.requireScope(scope);
      // A page without records still has a total. A parent without a builder leads to records that have one.
      const owner = getBuilderId(source as object);
      if (owner !== undefined) caller.requireConnectionScope(owner, scope);
    },
    authorizeResult(result, { caller }) {
      requireRecords(caller, inEnvelope ? (result as { data: object[] } | null)?.data : result, scope);
    },
  };
}

/** Throws unless the connection of each record's builder allows the scope. */
function requireRecords(caller: Caller, records: unknown, scope: Scope): void {
  if (Array.isArray(records)) {
    let last: string | null = null;
    for (const record of records) {
      const owner = getBuilderId(record)!;
      if (owner !== last) caller.requireConnectionScope(owner, scope);
      last = owner;
    }
  } else if (records) caller.requireConnectionScope(getBuilderId(records)!, scope);
}

function getBuilderId(record: object): string | undefined {
  return record instanceof Builder ? record.id : (record as { builderId?: string }).builderId;
}
