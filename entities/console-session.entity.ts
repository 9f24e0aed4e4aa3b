import { Table } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { BrowserSession } from './session.entity.ts';

/** Sign-in of a staff user to the console (CON-1). */
@Table()
@PersonalData<ConsoleSession>({ of: { user: 'userId' }, erase: 'delete', secret: ['passwordDigest'] })
export class ConsoleSession extends BrowserSession {}
