import { Entity, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Instant, Reference } from './columns.ts';
import { OAuthClient } from './oauth-client.entity.ts';

/** SHA-256 digest of a secret that a client may authenticate with; two are valid while a client rotates. */
@Entity({ tableName: 'oauth_client_secret' })
@Unique({ properties: ['clientId', 'digest'] })
export class ClientSecret {
  @Property({ type: 'integer', primary: true, autoincrement: true })
  id!: number;

  @Reference(() => OAuthClient)
  clientId!: string;

  /** Lower-case hexadecimal. */
  @Property({ type: 'text' })
  digest!: string;

  @Instant()
  createdAt!: string;
}
