import { type GraphQLNamedType, isObjectType } from 'graphql';
import { getPersonalData } from '../../../entities/personal-data.ts';
import type { Selection } from '../../../schema/selection.ts';
import type { Database } from '../../database/database.ts';
import { requireStaffAction } from '../../domain/access/staff-roles.ts';
import { type AuditSource, type PersonalDataRead, recordPersonalDataRead } from '../../domain/audit/record-audit.ts';

/** Milliseconds for which a repeated read of the same data by the same staff user is not recorded again. */
const REPEATED_MS = 3_600_000;

/** Maximum reads in the memory of a process; the oldest are dropped, and recorded again when repeated. */
const MAX_READS = 50_000;

/** Reads that were recorded within the last hour, by process. A page that is polled would fill the audit log. */
export class RecordedReads {
  /** Times by region, staff user, builder, person and category, in the order of recording. */
  readonly #times = new Map<string, number>();

  has(key: string, now: number): boolean {
    const at = this.#times.get(key);
    return at !== undefined && now - at < REPEATED_MS && now >= at;
  }

  add(key: string, now: number): void {
    this.#times.delete(key);
    this.#times.set(key, now);
    if (this.#times.size > MAX_READS) this.#times.delete(this.#times.keys().next().value!);
  }
}

/** A read of one kind of a person's data, or of a record that names people without an identifier. */
interface PersonalRead {
  id: string;
  isRecord: boolean;
  /** Kind of the record: `SignOnVisit`. */
  category: string;
  builderId: string | null;
}

/** The people whose data one request of a staff user reads. */
export class PersonalReads {
  /** Each read once. */
  readonly #reads = new Map<string, PersonalRead>();

  constructor(
    readonly recorded: RecordedReads,
    readonly source: AuditSource,
  ) {}

  /** Notes a read. Throws 403 for a role that does not allow `person.read`. */
  add(id: string, category: string, builderId: string | null, isRecord = false): void {
    this.requireAllowed();
    this.#reads.set(`${builderId} ${id} ${category}`, { id, isRecord, category, builderId });
  }

  /** Notes a read of a record that names people without an identifier. Throws 403 as `add` does. */
  addRecord(recordId: string, category: string, builderId: string | null): void {
    this.add(recordId, category, builderId, true);
  }

  /** Throws 403 for a role that does not allow `person.read`. */
  requireAllowed(): void {
    const { actor } = this.source;
    if (actor.type === 'STAFF') requireStaffAction(actor.role, 'person.read');
  }

  /** Writes the reads that were not recorded within the last hour to the audit log; to be awaited before the response. CON-5. */
  async record(database: Database, now: number): Promise<void> {
    const reader = `${database.region} ${this.source.actor.id}`;
    const toKey = ({ id, category, builderId }: PersonalRead) => `${reader} ${builderId} ${id} ${category}`;
    const reads = [...this.#reads.values()].filter((read) => !this.recorded.has(toKey(read), now));
    if (reads.length === 0) return;
    const byPerson = Map.groupBy(reads, ({ builderId, id }) => `${builderId} ${id}`);
    const groups = new Map<string, PersonalDataRead & { personIds: string[]; recordIds: string[] }>();
    for (const own of byPerson.values()) {
      const { id, builderId } = own[0]!;
      const categories = own.map(({ category }) => category).sort();
      const name = `${builderId} ${categories}`;
      const group = groups.get(name) ?? { builderId, categories, personIds: [], recordIds: [] };
      (own.some(({ isRecord }) => isRecord) ? group.recordIds : group.personIds).push(id);
      groups.set(name, group);
    }
    const at = new Date(now).toISOString();
    await database.transaction(async (em) => {
      for (const group of groups.values()) await recordPersonalDataRead(em, this.source, at, group);
    });
    for (const read of reads) this.recorded.add(toKey(read), now);
  }
}

/** How the people of a type's records are found. */
export interface PersonalType {
  /** Whether a selection of the records contains personal data. */
  isPersonal(selection: Selection | null): boolean;
  /** Whether a search finds the records by the person's name, so that they are the person's whatever is selected of them. */
  isSearchedByName: boolean;
  /** Whether the records are those of a person, or of a person's record, so that they are the person's whatever is selected of them. */
  isOfPerson: boolean;
  /** Properties that are read in addition: the person's id, and the record's where its author may have no account. */
  properties: readonly string[];
  findPeople(record: object): string[];
  /** Whether a record names somebody without an identifier of this service. */
  namesOthers(record: object): boolean;
}

/** Returns how the people of records of a type are found; null for a type that is about no person. @param parent name of the type with the field */
export function findPersonalType(type: GraphQLNamedType, parent = ''): PersonalType | null {
  if (type.name === 'Defect') return DEFECT;
  const { of, name = [], email = [], cleared = [], file = [], people = [] } = getPersonalData(type.name);
  const property = of && Object.values(of)[0];
  if (!property) return null;
  // `workerId` is shown as `worker`, which some readers have in place of the id.
  const summary = property.replace(/Id$/, '');
  const hasSummary = summary !== property && isObjectType(type) && summary in type.getFields();
  const findPeople = (record: object) => {
    const values = record as Record<string, unknown>;
    const id = hasSummary ? (values[summary] as { id: string } | null)?.id : values[property];
    return id == null ? [] : [id as string];
  };
  // The author of a report may have no account.
  const namesOthers = (record: object) => 'sourceAuthor' in record && findPeople(record).length === 0;
  const common = { findPeople, namesOthers, isOfPerson: getPersonalData(parent).of !== undefined };
  if (property === 'id') return { properties: [property], isPersonal: () => true, isSearchedByName: true, ...common };
  const personal = new Set([property, summary, 'closingReason', ...name, ...email, ...cleared, ...file, ...people]);
  const isPersonal = (selection: Selection | null) =>
    selection === null || [...selection.paths].some((path) => personal.has(path.split('.', 1)[0]!));
  const hasAuthor = isObjectType(type) && 'sourceAuthor' in type.getFields();
  const properties = [hasSummary ? `${summary}.id` : property, ...(hasAuthor ? ['id'] : [])];
  return { properties, isPersonal, isSearchedByName: hasSummary, ...common };
}

const findAssignees = (record: object) =>
  ((record as { assignees?: { type: string; id: string }[] }).assignees ?? [])
    .filter(({ type }) => type === 'USER')
    .map(({ id }) => id);

/** Identifier of a user or worker. That of an assignee in another system may be a name, an address, or too long for the audit log's index. */
const PERSON_ID = /^(user|wkr)_[a-z0-9]{1,200}$/;

/** A defect names the users and workers whom it is assigned to. */
const DEFECT: PersonalType = {
  properties: ['id'],
  isSearchedByName: false,
  isOfPerson: false,
  isPersonal: (selection) => selection === null || [...selection.paths].some((path) => path.startsWith('assignees')),
  findPeople: (record) => findAssignees(record).filter((id) => PERSON_ID.test(id)),
  namesOthers: (record) => findAssignees(record).some((id) => !PERSON_ID.test(id)),
};
