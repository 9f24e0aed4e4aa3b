import { Route, Routes } from 'react-router';
import { useFilters } from '../../shared/filters.ts';
import { useScope } from '../../shared/scope.tsx';
import { FailingEndpoints } from './failing-endpoints.tsx';
import { IntegratorList } from './integrator-list.tsx';
import { IntegratorView } from './integrator-view.tsx';

export default function IntegrationsPage() {
  const { builder } = useScope();
  const isFailing = useFilters().get('show') === 'failing';
  return (
    <Routes>
      <Route index element={isFailing && builder ? <FailingEndpoints /> : <IntegratorList />} />
      <Route path=":integratorId" element={<IntegratorView />} />
    </Routes>
  );
}
