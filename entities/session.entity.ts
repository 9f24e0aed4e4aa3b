import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Expiring, Id, Reference } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { User } from './user.entity.ts';

/** Sign-in of a user or staff user in a browser. */
export abstract class BrowserSession extends Expiring {
  /** SHA-256 of the secret in the cookie, in lower-case hexadecimal. */
  @Id()
  digest!: string;

  @Index()
  @Reference(() => User, { deleteRule: 'cascade' })
  userId!: string;

  /** SHA-256 of what the user signed in with, the password hash or the bound identity, so that a change of it ends the session. */
  @Property({ type: 'text' })
  credentialDigest!: string;
}

/** Sign-in of a user on the pages for users (OAU-25). The secret is the browser id. */
@Entity({ tableName: 'oauth_session' })
@PersonalData<Session>({ of: { user: 'userId' }, erase: 'delete', secret: ['credentialDigest'] })
export class Session extends BrowserSession {}
