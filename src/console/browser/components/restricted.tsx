import { useScope } from '../shared/scope.tsx';

/** A message about who may do an action, where the own role may not: `Only operators and administrators can end a visit.` */
export function Restricted({ action, to }: { action: string; to: string }) {
  const { roleFor } = useScope();
  const role = roleFor(action);
  if (!role) return null;
  return (
    <p className="soft small">
      Only {role === 'ADMIN' ? 'administrators' : 'operators and administrators'} can {to}.
    </p>
  );
}
