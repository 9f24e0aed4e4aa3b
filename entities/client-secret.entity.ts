import { Entity, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Instant, Reference, SerialId } from './columns.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { PersonalData } from './personal-data.ts';

/** SHA-256 digest of a client secret. During rotation the two latest are valid. */
@Entity({ tableName: 'oauth_client_secret' })
@PersonalData<ClientSecret>({ none: ['digest'] })
@Unique({ properties: ['clientId', 'digest'] })
export class ClientSecret {
  @SerialId()
  id!: number;

  @Reference(() => OAuthClient)
  clientId!: string;

  /** Lower-case hexadecimal. */
  @Property({ type: 'text' })
  digest!: string;

  @Instant()
  createdAt!: string;
}
