import type { RequestContext } from '../../auth/request-context.ts';
import type { StaffAction } from '../../domain/access/staff-roles.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import type { Message } from '../../mail/mailer.ts';
import type { StaffUser } from '../../oauth/interaction/sessions.ts';
import type { RegionId } from '../../shared/regions.ts';
import type { ChangeFeed } from './attendance/change-feed.ts';
import type { PersonalReads } from './personal-reads.ts';

/** Context of the console's resolvers: that of the integrators' resolvers, and the staff user. */
export interface ConsoleContext extends RequestContext, Pick<ChangeContext, 'source'> {
  readonly staff: StaffUser;
  readonly personalReads: PersonalReads;
  /** Changes of the region, which all polls of the process share. */
  readonly changeFeed: ChangeFeed;
  readonly session: {
    /** Returns the regions in which the browser is signed in. */
    findRegions(): Promise<RegionId[]>;
    /** Ends the browser's sessions of all regions. */
    end(): Promise<void>;
  };
  /** Sends a link for choosing a password, or returns its URL without a mail server. */
  readonly passwordLinks: PasswordLinkSender;
}

/** Sends one-time links by e-mail where there is a mail server. */
export interface PasswordLinkSender {
  readonly emails: boolean;
  /** Returns whether the mail server has accepted the message. */
  send(link: { name: string; email: string; path: string }): Promise<boolean>;
  toUrl(path: string): string;
  /** Sends a message to a user after the response, where there is a mail server. */
  notify(message: Message): void;
}

// biome-ignore lint/suspicious/noExplicitAny: the schema has validated the arguments.
export type Resolve<Parent = undefined> = (parent: Parent, args: any, context: ConsoleContext, info: object) => unknown;

/** A query or mutation of the console, with the action of `staff-roles.ts` that it is. */
export interface ConsoleOperation {
  action: StaffAction;
  /** Assumed number of records of a list without `limit`, in the cost of a query. */
  maxRecords?: number;
  resolve: Resolve;
}

/** A part of the console's schema. */
export interface ConsoleArea {
  /** In the schema definition language. */
  types: string;
  queries?: Record<string, ConsoleOperation>;
  mutations?: Record<string, ConsoleOperation>;
  /** Resolvers of fields, by type and field. Other fields are properties of their parent. They read by loaders, for all parents together. */
  // biome-ignore lint/suspicious/noExplicitAny: each type has a parent of its own.
  fields?: Record<string, Record<string, Resolve<any>>>;
}

/** Returns the context of a change by the staff user. @param expectedUpdatedAt `updatedAt` of what the person saw. */
export const toChangeContext = (
  { database, clock, source, webhooks }: ConsoleContext,
  { expectedUpdatedAt }: { expectedUpdatedAt?: string } = {},
) => ({ database, clock, source, webhooks, expectedUpdatedAt });
