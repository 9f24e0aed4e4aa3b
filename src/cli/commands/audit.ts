import { formatAuditEntry, listAudit } from '../services/audit.ts';
import { type CommandGroup, limitOption, option, toFields } from './command-group.ts';

/** Adds the commands that read the audit log. */
export function addAuditCommands(program: CommandGroup): void {
  const options = [
    option('--actor <actor>', 'OPERATOR, STAFF, USER, CLIENT, JOB or IMPORT, an id, or both: USER:user_a1'),
    option('--action <action>', 'an action such as client.updated, or a kind of object: client'),
    option('--object <id>', 'changed object'),
    option('--person <id>', 'user or worker whom the entries are about'),
    option('--builder <id>', 'builder'),
    option('--since <instant>', 'date, or date-time with a time zone; inclusive'),
    option('--until <instant>', 'date, or date-time with a time zone; exclusive'),
    limitOption('entries of a page', 50),
    option('--cursor <entry>', 'last entry of the previous page'),
  ];
  const group = program.addGroup('audit', 'who changed which access, and from where');
  group.addRegional('list', 'list entries of a region, newest first', options, async (context, values) => {
    const data = await listAudit(context, toFields(values));
    const lines = data.entries.map(formatAuditEntry);
    if (lines.length === 0) lines.push('No entries.');
    if (data.nextCursor !== null) lines.push(`More: --cursor ${data.nextCursor}`);
    return { data, text: lines.join('\n') };
  });
}
