import type { Scope } from '../../schema/scopes.ts';
import { forbidden, insufficientScope } from '../shared/errors.ts';

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

  constructor(facts: CallerFacts) {
    Object.assign(this, facts);
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
    if (scope !== null && !allowed.has(scope)) {
      throw insufficientScope(scope, `The builder's connection does not allow ${scope}.`);
    }
  }

  /** Returns the ids of the builders whose connections allow the scope; null for all builders of the region. */
  listBuilderIds(scope: Scope): string[] | null {
    if (this.internal) return null;
    return [...this.connections].filter(([, allowed]) => allowed.has(scope)).map(([builderId]) => builderId);
  }
}
