import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Builder } from './builder.entity.ts';
import { Instant, Reference } from './columns.ts';
import { Integrator } from './integrator.entity.ts';

/**
 * What a client may send, or has sent, to be used once in a photo. It belongs to the builder and integrator that made it.
 * Part 8 of the decisions.
 */
@Entity()
@Index({ properties: ['createdAt'] })
export class Upload {
  /** Where the bytes stand until they are used. */
  @Property({ type: 'text', primary: true })
  key!: string;

  @Reference(() => Builder)
  builderId!: string;

  /** Null for an internal client. */
  @Reference(() => Integrator, { nullable: true })
  integratorId!: string | null;

  @Property({ type: 'text' })
  fileName!: string;

  /** As declared. */
  @Property({ type: 'text' })
  contentType!: string;

  /** Bytes, as declared. */
  @Property({ type: 'integer' })
  size!: number;

  @Instant()
  createdAt!: string;

  @Instant({ nullable: true })
  consumedAt!: string | null;

  /** The photo that used it last. */
  @Property({ type: 'text', nullable: true })
  photoId!: string | null;
}
