import type { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { AuditActorType } from '../../../entities/audit-entry.entity.ts';
import { toInstant } from '../../../schema/scalars.ts';
import { AUDIT_ACTIONS, AUDITED_PROPERTIES } from '../../domain/audit/audit-actions.ts';
import { type AuditFilter, listAuditEntries } from '../../domain/audit/list-audit-entries.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { CliError } from '../cli-error.ts';

/** Options of `audit list`, as given. */
interface AuditListRequest extends Omit<AuditFilter, 'actorType' | 'actorId'> {
  /** An actor's type, id or both: `OPERATOR`, `user_a1`, `USER:user_a1`. */
  actor?: string;
  limit: number;
  cursor?: string | null;
}

/** Lists entries of the region's audit log, newest first. ACC-23. */
export async function listAudit(
  { database }: ChangeContext,
  { actor, action, since, until, limit, cursor = null, ...ids }: AuditListRequest,
) {
  const times = { since: parseInstant('--since', since), until: parseInstant('--until', until) };
  const filter = { ...ids, ...parseActor(actor), action: parseAction(action), ...times };
  const page = await listAuditEntries(database, filter, { limit, cursor });
  if (!page) throw CliError.forOption('--cursor', `${database.region} has no entry ${cursor}`);
  return { entries: page.entries.map(toListedEntry), nextCursor: page.nextCursor };
}

const toListedEntry = ({ actorType, actorId, valuesBefore, valuesAfter, ...entry }: AuditEntry) => ({
  ...entry,
  actor: { type: actorType, id: actorId },
  before: valuesBefore,
  after: valuesAfter,
});

type ListedEntry = ReturnType<typeof toListedEntry>;

/** Formats an entry as one line, followed by the changed values. */
export function formatAuditEntry({ id, at, actor, action, objectId, origin, before, after }: ListedEntry): string {
  const from = [origin.host, origin.address, origin.requestId].filter(Boolean).join(' ');
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const values = names.map((name) => {
    const [old, value] = [before?.[name], after?.[name]].map((one) => (one === undefined ? null : JSON.stringify(one)));
    return `    ${name}: ${[old, value].filter((one) => one !== null).join(' → ')}`;
  });
  const who = `${actor.type}${actor.id === null ? '' : ` ${actor.id}`}`;
  return [`${at}  ${action}  ${objectId}  by ${who}${from ? ` from ${from}` : ''}  ${id}`, ...values].join('\n');
}

function parseActor(text: string | undefined): Pick<AuditFilter, 'actorType' | 'actorId'> {
  if (text === undefined) return {};
  const [name, id] = text.split(/:(.*)/s);
  const type = name!.toUpperCase();
  if (Object.hasOwn(AuditActorType, type) && id !== '') return { actorType: type as AuditActorType, actorId: id };
  if (id === undefined && !/^[A-Z]*$/.test(name!)) return { actorId: text };
  throw CliError.forOption('--actor', `"${text}" is not one of ${Object.keys(AuditActorType).join(' ')}`);
}

function parseAction(text: string | undefined): string | undefined {
  if (text === undefined || Object.hasOwn({ ...AUDIT_ACTIONS, ...AUDITED_PROPERTIES }, text)) return text;
  throw CliError.forOption('--action', `"${text}" is not one of ${Object.keys(AUDIT_ACTIONS).join(' ')}`);
}

/** Parses a date or a date-time of an option. Throws `CliError` for another text. */
export function parseInstant(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const instant = toInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (instant === null) throw CliError.forOption(option, `"${text}" is not a date or a date-time with a time zone`);
  return instant;
}
