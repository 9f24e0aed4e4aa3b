import { type ExecutionResult, type GraphQLSchema, Kind, type SelectionNode } from 'graphql';
import type { StaffAction } from '../../domain/access/staff-roles.ts';
import type { ExecuteQuery } from '../../graphql/server/operation-steps.ts';
import type { ConsoleContext } from './console-area.ts';

/** Header with the cursor of the poll after which a page reads its records again. */
const CURSOR_HEADER = 'x-console-cursor';

/** Milliseconds for which a result is shared from the beginning of its execution. Polls that receive one cursor are within half a second. */
const SHARED_MS = 1_000;

/** Maximum shared results of a process, and the maximum bytes of each. */
const MAX_RESULTS = 100;
const MAX_BYTES = 256 * 1024;

/** Root fields with these actions return the same for all staff users of a role. */
const SHARED_ACTIONS: readonly StaffAction[] = ['records.read', 'person.read'];

/** What an execution counts and notes. */
type Noted = Pick<ConsoleContext, 'meter' | 'personalReads' | 'storage'>;

interface SharedResult extends Noted {
  result: ExecutionResult;
}

/**
 * Executes a query once for all tabs that read the same records again after a poll with the same cursor. An execution that begins after
 * the poll has all changes that the poll names. CON-18.
 */
export class SharedReads {
  /** By the query and all that its result depends on; null where it failed. */
  readonly #results = new Map<string, Promise<SharedResult | null>>();

  readonly execute: ExecuteQuery = async ({ schema, operation, request, contextValue }, run) => {
    const { region, staff, builderHeader, meter, personalReads, storage } = contextValue as ConsoleContext;
    const cursor = request.http?.headers.get(CURSOR_HEADER);
    if (!cursor || !operation.selectionSet.selections.every((each) => isShared(schema, each))) return run();
    const { query, operationName, variables } = request;
    const key = JSON.stringify([cursor, region, staff.role, builderHeader, query, operationName, variables]);
    const shared = this.#results.get(key);
    if (!shared) {
      const executing = run();
      this.#share(key, executing, { meter, personalReads, storage });
      return executing;
    }
    const found = await shared;
    if (!found) return run();
    const { fields, bytes, readCost } = found.meter;
    Object.assign(meter, { fields, bytes, readCost });
    personalReads.addAll(found.personalReads);
    return found.result;
  };

  #share(key: string, executing: Promise<ExecutionResult | null>, noted: Noted): void {
    if (this.#results.size === MAX_RESULTS) return;
    const shared = executing.then(
      (result) => (result && isSharable(result, noted) ? { ...noted, result } : null),
      () => null,
    );
    this.#results.set(key, shared);
    setTimeout(() => this.#results.delete(key), SHARED_MS).unref();
  }
}

/** Signed URLs name the person who is charged for their downloads. */
const isSharable = ({ errors }: ExecutionResult, { meter, storage }: Noted): boolean =>
  !errors && meter.bytes <= MAX_BYTES && !storage.hasSigned;

/** Whether a root field returns the same for all staff users of a role. */
function isShared(schema: GraphQLSchema, selection: SelectionNode): boolean {
  if (selection.kind !== Kind.FIELD) return false;
  const action = schema.getQueryType()!.getFields()[selection.name.value]?.extensions.action;
  return SHARED_ACTIONS.includes(action as StaffAction);
}
