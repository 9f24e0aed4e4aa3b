import './integrator-page.css';
import { showGraphiql } from './graphiql.ts';

void showGraphiql(document.getElementById('root')!, {
  async fetcher(parameters: unknown, { headers = {} }: { headers?: Record<string, string> } = {}) {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(parameters),
    });
    return response.json();
  },
  headers: JSON.stringify({ Authorization: 'Bearer ACCESS_TOKEN' }, null, 2),
  defaultEditorToolsVisibility: 'headers',
});
