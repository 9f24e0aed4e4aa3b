import './integrator-page.css';
import { send, showGraphiql } from './graphiql.ts';

void showGraphiql(document.getElementById('root')!, {
  async fetcher(parameters: unknown, { headers = {} }: { headers?: Record<string, string> } = {}) {
    return (await send('/graphql', headers, parameters)).json();
  },
  headers: JSON.stringify({ Authorization: 'Bearer ACCESS_TOKEN' }, null, 2),
  defaultEditorToolsVisibility: 'headers',
});
