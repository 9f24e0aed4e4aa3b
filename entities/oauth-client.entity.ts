import { Entity, Enum, Index, Property } from '@mikro-orm/decorators/legacy';
import { Id, Instant, Reference, Timestamped } from './columns.ts';
import { Integrator } from './integrator.entity.ts';
import { PersonalData } from './personal-data.ts';

export const ClientType = { CONFIDENTIAL: 'CONFIDENTIAL', PUBLIC: 'PUBLIC' } as const;
export type ClientType = keyof typeof ClientType;

export const GRANTS = ['client_credentials', 'authorization_code', 'refresh_token'] as const;
export type Grant = (typeof GRANTS)[number];

/** Credentials of an integrator, or of an internal tool. The id is the `client_id`. OAU-1. */
@Entity({ tableName: 'oauth_client' })
@PersonalData<OAuthClient>({
  none: ['grants', 'scopes', 'redirectUris', 'origins'],
  mentions: ['name', 'pilotAgreement'],
})
@Index({ properties: ['integratorId'] })
export class OAuthClient extends Timestamped {
  @Id()
  id!: string;

  /** Null only for an internal client. */
  @Reference(() => Integrator, { nullable: true })
  integratorId!: string | null;

  @Property({ type: 'text' })
  name!: string;

  @Enum({ items: () => ClientType })
  type!: ClientType;

  @Property({ type: 'boolean', default: false })
  internal!: boolean;

  @Property({ type: 'text[]' })
  grants!: Grant[];

  @Property({ type: 'text[]' })
  scopes!: string[];

  @Property({ type: 'text[]', default: [] })
  redirectUris!: string[];

  /** Browser origins of a public client, for CORS. */
  @Property({ type: 'text[]', default: [] })
  origins!: string[];

  /** Reference of the agreement under which `write:sign_on_events` was granted. */
  @Property({ type: 'text', nullable: true })
  pilotAgreement!: string | null;

  @Instant({ nullable: true })
  disabledAt!: string | null;
}
