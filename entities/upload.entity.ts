import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Builder } from './builder.entity.ts';
import { Instant, Reference } from './columns.ts';
import { Integrator } from './integrator.entity.ts';
import { PersonalData } from './personal-data.ts';

/** Failed check of the stored bytes of an upload. */
export interface FailedImageCheck {
  /** Version of the stored object; another version is checked again. */
  version: string;
  message: string;
}

/**
 * An announced or stored upload, which one photo may use (UPL-15, UPL-16). It belongs to the builder and integrator that created it.
 */
@Entity()
@PersonalData<Upload>({ none: ['contentType', 'failedCheck', 'photoId'], mentions: ['fileName'] })
@Index({ properties: ['createdAt'] })
// Uploads that count against the quota of an integrator, by expiry of their URLs.
@Index({
  properties: ['integratorId', 'expiresAt'],
  include: ['size'],
  where: 'consumed_at is null and released_at is null',
})
export class Upload {
  /** Storage key of the bytes until they are used. */
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

  /** When its upload URL expires; null once the bytes are known to be stored. */
  @Instant({ nullable: true })
  expiresAt!: string | null;

  /** When it stopped counting against the quota, because its URL expired and no bytes were sent. */
  @Instant({ nullable: true })
  releasedAt!: string | null;

  @Property({ type: 'jsonb', nullable: true })
  failedCheck!: FailedImageCheck | null;

  /** The photo that used it last. */
  @Property({ type: 'text', nullable: true })
  photoId!: string | null;
}
