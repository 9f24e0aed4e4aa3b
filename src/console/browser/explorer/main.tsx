import 'graphiql-files/graphiql.css';
import '../styles/tokens.css';
import '../styles/base.css';
import './explorer.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { applyTheme } from '../shared/theme.ts';
import { Explorer } from './explorer.tsx';

applyTheme();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <Explorer />
  </StrictMode>,
);
