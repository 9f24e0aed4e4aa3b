import { Link } from 'react-router';
import type { AuditQuery } from '../../graphql/generated.ts';
import { useAddress } from '../../shared/filters.ts';

type Entry = Pick<AuditQuery['audit']['data'][number], 'names' | 'builderId' | 'integratorId'>;

/** Prefixes of ids of records that have a page, with the page and the parameter that opens the record. */
const PAGES: Record<string, readonly [page: string, parameter: string]> = {
  user: ['/people', 'person'],
  buil: ['/today', 'builder'],
  proj: ['/attendance', 'project'],
  wkr: ['/workers', 'worker'],
  cli: ['/integrations', 'client'],
  whe: ['/integrations', 'endpoint'],
  intg: ['/integrations', ''],
};

/** The present name of a record that an entry refers to, which leads to its page; its id where it has no name any more. */
export function RecordName({ id, entry: { names, builderId, integratorId } }: { id: string; entry: Entry }) {
  const address = useAddress();
  const name = (names as Record<string, string | undefined>)[id];
  if (!name) return <code className="wrap">{id}</code>;
  const [page, parameter] = PAGES[id.split('_')[0]!] ?? [];
  const integrator = id.startsWith('intg_') ? id : integratorId;
  if (!page || (page === '/integrations' && !integrator)) return name;
  const path = page === '/integrations' ? `${page}/${integrator}` : page;
  const opened = parameter ? { [parameter]: id } : {};
  return <Link to={address(path, { ...(builderId && { builder: builderId }), ...opened })}>{name}</Link>;
}
