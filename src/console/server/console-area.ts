import type { RequestContext } from '../../auth/request-context.ts';
import type { StaffAction } from '../../domain/access/staff-roles.ts';
import type { WebhookChangeContext } from '../../domain/webhooks/webhook-context.ts';
import type { Message } from '../../mail/mailer.ts';
import type { StaffUser } from '../../oauth/interaction/sessions.ts';
import type { RegionId } from '../../shared/regions.ts';
import { type PageArgs, toLimit, withoutNull } from './page.ts';
import type { PersonalReads } from './personal-reads.ts';

/** Context of the console's resolvers: that of the integrators' resolvers, and the staff user. */
export interface ConsoleContext extends RequestContext {
  readonly staff: StaffUser;
  readonly personalReads: PersonalReads;
  readonly session: {
    /** Returns the regions in which the browser is signed in. */
    findRegions(): Promise<RegionId[]>;
    /** Ends the browser's sessions of all regions. */
    end(): Promise<unknown>;
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
type Args = any;

export type Resolve<Parent = undefined> = (
  parent: Parent,
  args: Args,
  context: ConsoleContext,
  info: object,
) => unknown;

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
  /** Types of which there are lists with cursors: of `Client`, the pages are `ClientPage`. */
  pages?: readonly string[];
  queries?: Record<string, ConsoleOperation>;
  mutations?: Record<string, ConsoleOperation>;
  /** Resolvers of fields, by type and field. Other fields are properties of their parent. They read by loaders, for all parents together. */
  // biome-ignore lint/suspicious/noExplicitAny: each type has a parent of its own.
  fields?: Record<string, Record<string, Resolve<any>>>;
}

/**
 * Returns a mutation.
 *
 * @param apply makes the change.
 * @param show returns what the mutation returns; by default what `apply` does.
 */
export const changeOperation = <Changed>(
  action: StaffAction,
  apply: (change: WebhookChangeContext, args: Args, context: ConsoleContext) => Promise<Changed>,
  show: (context: ConsoleContext, args: Args, changed: Changed, info: object) => unknown = (_, __, changed) => changed,
): ConsoleOperation => ({
  action,
  async resolve(_, { expectedUpdatedAt, ...args }, context, info) {
    const { database, clock, source, webhooks, staff, personalReads } = context;
    const change = { database, clock, source, webhooks, expectedUpdatedAt };
    const changed = await apply(change, args, context).catch((error) => {
      // Reads of one's own data are not recorded.
      if (error.personId && error.personId !== staff.id) personalReads.add(error.personId, 'User', null);
      throw error;
    });
    return show(context, args, changed, info);
  },
});

/** Returns the query of a list with cursors. An argument that is null means what an absent one does. */
export const listOperation = (
  action: StaffAction,
  read: (context: ConsoleContext, filter: Args, page: PageArgs) => Promise<object>,
): ConsoleOperation => ({
  action,
  resolve: (_, { after, limit, order, ...filter }, context) =>
    read(context, withoutNull(filter), {
      limit: toLimit(limit),
      cursor: after ?? undefined,
      order: order ?? undefined,
    }),
});
