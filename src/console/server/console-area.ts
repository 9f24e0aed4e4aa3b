import type { RequestContext } from '../../auth/request-context.ts';
import type { StaffAction } from '../../domain/access/staff-roles.ts';
import type { AuditSource } from '../../domain/audit/record-audit.ts';

/** A signed-in staff user of one region. */
export interface StaffSession {
  id: string;
  name: string;
  email: string;
}

/** Context of the console's resolvers: that of the integrators' resolvers, and the staff user. */
export interface ConsoleContext extends RequestContext {
  readonly staff: StaffSession;
  /** Recorded in the audit log. */
  readonly source: AuditSource;
}

// biome-ignore lint/suspicious/noExplicitAny: the schema has validated the arguments.
type Resolve<Parent = undefined> = (parent: Parent, args: any, context: ConsoleContext, info: object) => unknown;

/** A query or mutation of the console, with the action of `staff-roles.ts` that it is. */
export interface ConsoleOperation {
  action: StaffAction;
  resolve: Resolve;
}

/** A part of the console's schema. */
export interface ConsoleArea {
  /** In the schema definition language. */
  types: string;
  queries?: Record<string, ConsoleOperation>;
  mutations?: Record<string, ConsoleOperation>;
  /** Resolvers of fields, by type and field. */
  // biome-ignore lint/suspicious/noExplicitAny: each type has its own parent.
  fields?: Record<string, Record<string, Resolve<any>>>;
}
