import { Route, Routes } from 'react-router';
import { IntegratorList } from './integrator-list.tsx';
import { IntegratorView } from './integrator-view.tsx';

export default function IntegrationsPage() {
  return (
    <Routes>
      <Route index element={<IntegratorList />} />
      <Route path=":integratorId" element={<IntegratorView />} />
    </Routes>
  );
}
