import type { Scope } from '../../schema/scopes.ts';
import { forbidden, insufficientScope } from '../shared/errors.ts';
import type { Storage } from '../storage/storage.ts';

type CallerFacts = Pick<
  Caller,
  'clientId' | 'clientName' | 'integratorId' | 'internal' | 'userId' | 'builderId' | 'scopes' | 'connections'
>;

/** The authenticated client, and the user where there is one, with the checks of scopes and connections. */
export class Caller {
  readonly clientId!: string;
  readonly clientName!: string;
  /** Owner of the client; null for an internal client. */
  readonly integratorId!: string | null;
  /** An internal client may access every builder of its region, through GraphQL only. */
  readonly internal!: boolean;
  /** The user of an authorization-code token. */
  readonly userId!: string | null;
  /** The one builder of an authorization-code token. */
  readonly builderId!: string | null;
  readonly scopes!: ReadonlySet<string>;
  /** Scopes that each actively connected builder allows, by builder id. Empty for an internal client. */
  readonly connections!: ReadonlyMap<string, ReadonlySet<string>>;
  /** Key of the share that requests are charged to: one per integrator, and one per internal client. */
  readonly shareKey: string;
  /** Storage with URLs that are charged to the caller; created at its first request, because a caller is kept for many. */
  storage?: Storage;

  constructor(facts: CallerFacts) {
    Object.assign(this, facts);
    this.shareKey = facts.integratorId ?? facts.clientId;
  }

  /** Throws 403 `INSUFFICIENT_SCOPE` unless the token carries the scope. A null scope is always allowed. */
  requireScope(scope: Scope | null): void {
    if (scope !== null && !this.scopes.has(scope)) throw insufficientScope(scope);
  }

  /** Whether the builder is connected, whatever the scopes of the connection. */
  isConnectedTo(builderId: string): boolean {
    return this.internal || this.connections.has(builderId);
  }

  /** Throws 403 unless the builder is connected and its connection allows the scope. */
  requireConnectionScope(builderId: string, scope: Scope | null): void {
    if (this.internal) return;
    const allowed = this.connections.get(builderId);
    if (!allowed) throw forbidden('The builder is not connected to this integrator.');
    if (scope !== null && !allowed.has(scope)) throw notAllowed(scope);
  }

  /**
   * Returns whether the builder is connected; where it is not, it has to be looked up (`lookUpBuilder`). Throws 403 where the builder header names
   * another builder, or the connection does not allow the scope.
   */
  checkBuilder(builderId: string, builderHeader: string | null, scope: Scope | null): boolean {
    if (builderHeader !== null && builderHeader !== builderId)
      throw forbidden('X-Service-Builder-Id names another builder than the request.');
    const allowed = this.connections.get(builderId);
    if (allowed && scope !== null && !allowed.has(scope)) throw notAllowed(scope);
    return allowed !== undefined;
  }

  /**
   * Returns the id of the integrator whose client calls; throws 403 `FORBIDDEN` for an internal client. For operations whose records
   * belong to an integrator: its uploads, photos, photo reports, meeting notes and gate events.
   */
  requireIntegrator(): string {
    if (this.integratorId === null) throw forbidden('This operation is for the clients of a connected integrator.');
    return this.integratorId;
  }

  /**
   * Returns the integrator and the client of a client-credentials token; throws 403 `FORBIDDEN` for a user's token and for an internal
   * client. For operations with which an integrator manages its own settings (WHK-2).
   */
  requireClientCredentials(): { integratorId: string; clientId: string } {
    const integratorId = this.requireIntegrator();
    if (this.userId !== null) throw forbidden('This operation is for tokens of the client-credentials grant.');
    return { integratorId, clientId: this.clientId };
  }

  /** Returns the ids of the builders whose connections allow the scope; null for all builders of the region. */
  listBuilderIds(scope: Scope): string[] | null {
    if (this.internal) return null;
    const builderIds: string[] = [];
    for (const [builderId, allowed] of this.connections) if (allowed.has(scope)) builderIds.push(builderId);
    return builderIds;
  }
}

const notAllowed = (scope: Scope) => insufficientScope(scope, `The builder's connection does not allow ${scope}.`);
