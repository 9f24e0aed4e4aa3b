import { Link } from 'react-router';
import { useAddress } from '../../shared/filters.ts';
import { useScope } from '../../shared/scope.tsx';

/** A link to the changes of a record, where the role may see them. */
export function ChangesLink({ objectId }: { objectId: string }) {
  const { can } = useScope();
  const address = useAddress();
  if (!can('audit.read')) return null;
  return <Link to={address('/audit', { object: objectId })}>Who changed it</Link>;
}
