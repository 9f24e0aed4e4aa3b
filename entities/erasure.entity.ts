import { Entity, Enum, Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Id, Instant } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/** Column of a row with a text. */
export interface ErasurePlace {
  table: string;
  id: string;
  column: string;
}

export const ErasureKind = { PERSON: 'PERSON', BUILDER: 'BUILDER' } as const;
export type ErasureKind = keyof typeof ErasureKind;

/**
 * An erasure of a person or a builder (PRV-5, PRV-8). It contains ids and a pseudonym, and no name. Each erasure that was begun is also an
 * object of the storage, so that it is applied again after the database was restored from an older backup.
 */
@Entity()
@PersonalData<Erasure>({ none: ['subjectIds', 'builderIds', 'pseudonym', 'pendingKeys', 'places'] })
@Index({ properties: ['subjectIds'], type: 'gin' })
@Index({ properties: ['kind', 'completedAt'] })
@Unique({
  name: 'erasure_open_builder_unique',
  expression: `create unique index "erasure_open_builder_unique" on "erasure" ("subject_ids")
    where "kind" = 'BUILDER' and "cancelled_at" is null and "completed_at" is null`,
})
export class Erasure {
  @Id()
  id!: string;

  @Enum({ items: () => ErasureKind })
  kind!: ErasureKind;

  /** Ids of the person's records, or the builder's id. */
  @Property({ type: 'text[]' })
  subjectIds!: string[];

  /** Builders whose texts may name the person; empty for a builder. */
  @Property({ type: 'text[]', default: [] })
  builderIds!: string[];

  /** Replaces the name of the person; null for a builder. */
  @Property({ type: 'text', nullable: true })
  pseudonym!: string | null;

  @Instant()
  requestedAt!: string;

  /** When it is executed: at once for a person, after the grace period for a builder. */
  @Instant()
  dueAt!: string;

  @Instant({ nullable: true })
  cancelledAt!: string | null;

  /** When the records were erased. */
  @Instant({ nullable: true })
  completedAt!: string | null;

  /** Folders of the storage whose objects are still to be deleted. */
  @Property({ type: 'text[]', default: [] })
  pendingKeys!: string[];

  /** Texts that named the person when the records were erased. */
  @Property({ type: 'jsonb', default: '[]' })
  places!: ErasurePlace[];
}
