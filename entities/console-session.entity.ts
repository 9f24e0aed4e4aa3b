import { Entity } from '@mikro-orm/decorators/legacy';
import { PersonalData } from './personal-data.ts';
import { BrowserSession } from './session.entity.ts';

/** Sign-in of a staff user to the console (CON-1). */
@Entity()
@PersonalData<ConsoleSession>({ of: { user: 'userId' }, erase: 'delete', secret: ['credentialDigest'] })
export class ConsoleSession extends BrowserSession {}
