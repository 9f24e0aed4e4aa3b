import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Instant } from './columns.ts';

/** A host that the operator approved for `imageUrl` (UPL-25). */
@Entity()
export class ImageHost {
  /** Lower case, without a port. */
  @Property({ type: 'text', primary: true })
  host!: string;

  @Instant()
  createdAt!: string;
}
