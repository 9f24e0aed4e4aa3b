import { Arg, Args, ArgsType, Ctx, Field, Mutation, Query, Resolver } from 'type-graphql';
import { Snapshot } from '../../entities/snapshot.entity.ts';
import { ItemCount } from '../../schema/input-rules.ts';
import { createPageType, type Page, WindowArgs } from '../../schema/page.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
import { SNAPSHOT_RESOURCES, SnapshotId, SnapshotResource } from '../../schema/snapshot.scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import type { IdempotentRequest } from '../../src/domain/create-once.ts';
import {
  createSnapshot,
  deleteSnapshot,
  getSnapshot,
  type SnapshotContext,
  snapshots,
} from '../../src/domain/snapshots/snapshots.ts';
import { Idempotent } from '../idempotent.ts';

const SnapshotPage = createPageType(Snapshot);
const shared = { scope: null, clientCredentials: true, tag: 'Snapshots', extension: true } as const;
const ofSnapshot = { ...shared, params: { id: 'snapshotId' } };

/** Body of `createSnapshot` (SNP-1). */
@ArgsType()
class CreateSnapshotArgs {
  @Field(() => BuilderId, { description: 'The builder whose records are copied.' })
  builderId!: string;

  @Field(() => [SnapshotResource], {
    nullable: true,
    description: 'What is copied; null for all that the client may read.',
  })
  @ItemCount({ minItems: 1, maxItems: SNAPSHOT_RESOURCES.length })
  resources?: SnapshotResource[] | null;
}

/** The log of a standby may lack what the client has just written. */
const toSnapshotContext = (context: RequestContext): SnapshotContext =>
  Object.assign(Object.create(context) as RequestContext, {
    caller: { ...context.caller, ...context.caller.requireClientCredentials() },
    database: context.database.primary,
  });

@Resolver(() => Snapshot)
export class SnapshotResolver {
  @Query(() => SnapshotPage, {
    description:
      'The snapshots of the integrator in the last 7 days whose builder is connected and whose scopes the client has, without URLs.',
  })
  @Rest('GET /snapshots', shared)
  snapshots(
    @Args() window: WindowArgs,
    @Selected() selection: Selection | null,
    @Ctx() { caller, database }: RequestContext,
  ): Promise<Page<Snapshot>> {
    const { integratorId } = caller.requireClientCredentials();
    const where = { integratorId, scopes: `{${[...caller.scopes].join()}}` };
    return snapshots.select(selection).findPage(database.primary, where, window);
  }

  @Query(() => Snapshot, { description: 'One snapshot, with URLs of its files once it is `READY`.' })
  @Rest('GET /snapshots/{id}', ofSnapshot)
  snapshot(@Arg('snapshotId', () => SnapshotId) id: string, @Ctx() context: RequestContext): Promise<Snapshot> {
    return getSnapshot(toSnapshotContext(context), id);
  }

  @Mutation(() => Snapshot, {
    description:
      "Starts a copy of a builder's records, as files of gzipped JSON lines. The client needs the scope of each resource, in the token and in the builder's connection.",
  })
  @Rest('POST /snapshots', { ...shared, status: 202, conflicts: ['SNAPSHOT_RUNNING'], builderIsInput: true })
  createSnapshot(
    @Args() input: CreateSnapshotArgs,
    @Idempotent() request: IdempotentRequest | null,
    @Ctx() context: RequestContext,
  ): Promise<Snapshot> {
    return createSnapshot(toSnapshotContext(context), input, request);
  }

  @Mutation(() => Snapshot, { description: 'Cancels or removes a snapshot, and deletes its files.' })
  @Rest('DELETE /snapshots/{id}', ofSnapshot)
  deleteSnapshot(@Arg('snapshotId', () => SnapshotId) id: string, @Ctx() context: RequestContext): Promise<Snapshot> {
    return deleteSnapshot(toSnapshotContext(context), id);
  }
}
