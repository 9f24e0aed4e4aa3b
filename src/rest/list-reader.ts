import { Caller } from '../auth/caller.ts';
import type { RequestContext } from '../auth/request-context.ts';
import { Loaders } from '../database/read/loaders.ts';
import { SIGNED_URL } from '../domain/snapshots/snapshot-lists.ts';
import type { ReadList } from '../domain/snapshots/write-snapshot.ts';
import { compileOperation } from '../graphql/engine/compile-operation.ts';
import type { CompiledOperation } from '../graphql/engine/execution.ts';
import { ResponseMeter } from '../limits/response-meter.ts';
import { getRootField } from './input.ts';
import { createNullOmitter, type NullOmitter, type RestDefinition } from './plugin.ts';

/** What resolvers of lists use of a storage. */
const STORAGE = { createDownloadUrl: () => SIGNED_URL };

/** Returns the function that reads pages of lists outside of a request, of any size, for what the snapshot's client may read. */
export function createListReader({ schema, operations, documents }: RestDefinition): ReadList {
  const lists = new Map<string, { compiled: CompiledOperation; omitNulls: NullOmitter | null }>();
  const compile = (field: string) => {
    const operation = operations.find((each) => each.field === field)!;
    const list = {
      compiled: compileOperation(schema, documents.get(field)!)!,
      omitNulls: createNullOmitter(getRootField(operation, schema).type),
    };
    lists.set(field, list);
    return list;
  };
  return async (database, { field, variables, snapshot }) => {
    const { compiled, omitNulls } = lists.get(field) ?? compile(field);
    const scopes = new Set(snapshot.scopes);
    const context = {
      caller: new Caller({
        clientId: snapshot.clientId,
        clientName: '',
        integratorId: snapshot.integratorId,
        internal: false,
        userId: null,
        builderId: null,
        scopes,
        connections: new Map([[snapshot.builderId, scopes]]),
      }),
      builderHeader: null,
      database,
      loaders: new Loaders(database),
      meter: new ResponseMeter(),
      storage: STORAGE,
    } as unknown as RequestContext;
    const result = await compiled.execute(context, variables);
    if (result?.errors) throw result.errors[0]!.originalError ?? result.errors[0];
    if (!result) {
      // It would be left to graphql-js, which does not accept so large a page, the next times too.
      lists.delete(field);
      throw new Error(`A field of ${field} could not be resolved.`);
    }
    const page = result.data![field];
    return (omitNulls?.(page) ?? page) as Awaited<ReturnType<ReadList>>;
  };
}
