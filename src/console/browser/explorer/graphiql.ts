import editorWorkerUrl from 'graphiql-files/editor.worker.js?url';
import graphiqlUrl from 'graphiql-files/graphiql.js?url';
import graphqlWorkerUrl from 'graphiql-files/graphql.worker.js?url';
import jsonWorkerUrl from 'graphiql-files/json.worker.js?url';

/** Properties of GraphiQL that the pages set. */
interface GraphiqlProperties {
  fetcher: (parameters: unknown, options?: { headers?: Record<string, string> }) => Promise<unknown>;
  /** That of the system if absent. */
  forcedTheme?: string;
  /** Headers at the first visit, as JSON. */
  headers?: string;
  isHeadersEditorEnabled?: boolean;
  defaultEditorToolsVisibility: string;
  initialQuery?: string;
  initialVariables?: string;
  /** An empty one leaves out the greeting of the package. */
  defaultQuery: string;
  /** GraphiQL's package writes each query into the address of the page where this is absent. */
  onEditQuery: () => void;
  title: string;
}

declare global {
  var MonacoEnvironment: unknown;
  var YogaGraphiQL: { renderYogaGraphiQL(element: Element, properties: GraphiqlProperties): void };
}

const WORKERS: Record<string, string> = {
  editorWorkerService: editorWorkerUrl,
  graphql: graphqlWorkerUrl,
  json: jsonWorkerUrl,
};

/** Loads GraphiQL and shows it in the element. Its files are built: see `build-console.ts`. */
export async function showGraphiql(element: Element, properties: GraphiqlProperties): Promise<void> {
  globalThis.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_: string, label: string) => WORKERS[label] };
  await import('graphiql-files/graphiql.css');
  await import(/* @vite-ignore */ graphiqlUrl);
  globalThis.YogaGraphiQL.renderYogaGraphiQL(element, properties);
}
