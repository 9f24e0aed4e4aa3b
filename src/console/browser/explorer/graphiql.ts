import editorWorkerUrl from 'graphiql-files/editor.worker.js?url';
import graphiqlUrl from 'graphiql-files/graphiql.js?url';
import graphqlWorkerUrl from 'graphiql-files/graphql.worker.js?url';
import jsonWorkerUrl from 'graphiql-files/json.worker.js?url';

declare global {
  var MonacoEnvironment: unknown;
  var YogaGraphiQL: { renderYogaGraphiQL(element: Element, properties: object): void };
}

/** An empty query leaves out the greeting of the package, which writes each query into the address of the page without `onEditQuery`. */
const DEFAULTS = { title: 'GraphiQL', defaultQuery: '', onEditQuery: () => {} };

const WORKERS: Record<string, string> = {
  editorWorkerService: editorWorkerUrl,
  graphql: graphqlWorkerUrl,
  json: jsonWorkerUrl,
};

/** Sends a request of GraphiQL. */
export const send = (url: string, headers: Record<string, string>, parameters: unknown): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(parameters),
  });

/** Loads GraphiQL and shows it in the element, with properties of GraphiQL. Its files are built: see `build-console.ts`. */
export async function showGraphiql(element: Element, properties: object): Promise<void> {
  globalThis.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_: string, label: string) => WORKERS[label] };
  await import('graphiql-files/graphiql.css');
  await import(/* @vite-ignore */ graphiqlUrl);
  globalThis.YogaGraphiQL.renderYogaGraphiQL(element, { ...DEFAULTS, ...properties });
}
