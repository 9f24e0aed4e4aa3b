import { Entity, Enum, Index, Property } from '@mikro-orm/decorators/legacy';
import { Instant, InstantType, Reference } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { Photo } from './photo.entity.ts';

/** `PENDING` until the photo is rendered; `FAILED` when it cannot be. */
export const RenditionStatus = { PENDING: 'PENDING', READY: 'READY', FAILED: 'FAILED' } as const;
export type RenditionStatus = keyof typeof RenditionStatus;

/** State of the renditions of a photo (PHO-39). Triggers add a row with each photo, and renew it when its bytes are replaced. */
@Entity()
@PersonalData<PhotoRendition>({ none: ['shareKey', 'problem'] })
// When each photo of a share may be rendered: from its creation, or from the end of a claim or pause.
@Index({
  name: 'photo_rendition_due',
  expression: `create index "photo_rendition_due" on "photo_rendition"
    ("share_key", coalesce("claimed_until", "created_at"), "photo_id") where status = 'PENDING'`,
})
export class PhotoRendition {
  @Reference(() => Photo, { primary: true, deleteRule: 'cascade' })
  photoId!: string;

  /** Share that the work is charged to: the integrator of the photo, or its builder. */
  @Property({ type: 'text' })
  shareKey!: string;

  @Enum({ items: () => RenditionStatus, default: 'PENDING' })
  status!: RenditionStatus;

  /** Pixels of the upright photo; null unless `READY`. */
  @Property({ type: 'integer', nullable: true })
  width!: number | null;

  @Property({ type: 'integer', nullable: true })
  height!: number | null;

  /** Why it cannot be rendered, or why the last attempt failed. */
  @Property({ type: 'text', nullable: true })
  problem!: string | null;

  /** Times that a process began to render it, without those that `failures` counts. */
  @Property({ type: 'integer', default: 0 })
  attempts!: number;

  /** Attempts that failed for a reason outside of the photo, such as a store that did not answer. */
  @Property({ type: 'integer', default: 0 })
  failures!: number;

  /** No process begins to render it before: while one renders it, and until the next attempt after a failure. */
  @Instant({ nullable: true })
  claimedUntil!: string | null;

  @Property({ type: InstantType, defaultRaw: 'clock_timestamp()' })
  createdAt!: string;
}
