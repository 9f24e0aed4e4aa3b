import type { Scope } from '../../schema/scopes.ts';
import type { Caller } from '../context.ts';
import { forbidden, insufficientScope } from '../errors.ts';

type Facts = Pick<
  Caller,
  'clientId' | 'clientName' | 'integratorId' | 'internal' | 'userId' | 'builderId' | 'scopes' | 'connections'
>;

/** The rules of part 4 of the decisions, over what is known of the caller. */
export class TokenCaller implements Caller {
  readonly clientId!: string;
  readonly clientName!: string;
  readonly integratorId!: string | null;
  readonly internal!: boolean;
  readonly userId!: string | null;
  readonly builderId!: string | null;
  readonly scopes!: ReadonlySet<string>;
  readonly connections!: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(facts: Facts) {
    Object.assign(this, facts);
  }

  requireScope(scope: Scope | null): void {
    if (scope !== null && !this.scopes.has(scope)) throw insufficientScope(scope);
  }

  isConnectedTo(builderId: string): boolean {
    return this.internal || this.connections.has(builderId);
  }

  requireConnectionScope(builderId: string, scope: Scope | null): void {
    if (this.internal) return;
    const allowed = this.connections.get(builderId);
    if (!allowed) throw forbidden('The builder is not connected to this integrator.');
    if (scope !== null && !allowed.has(scope)) {
      throw insufficientScope(scope, `The builder's connection does not allow ${scope}.`);
    }
  }

  buildersWith(scope: Scope): string[] | null {
    if (this.internal) return null;
    return [...this.connections].filter(([, allowed]) => allowed.has(scope)).map(([builderId]) => builderId);
  }
}
