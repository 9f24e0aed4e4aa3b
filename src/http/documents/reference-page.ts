import { Marked } from 'marked';

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Operation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses?: Record<string, { $ref?: string; description?: string; content?: Record<string, { schema?: Schema }> }>;
}

/** The parts of an OpenAPI document that the page shows. */
export interface ReferenceDocument {
  info: { title: string; description?: string };
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; parameters?: Record<string, Parameter>; responses?: object };
}

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const marked = new Marked({ async: false, renderer: { html: ({ text }) => escapeHtml(text) } });
const renderMarkdown = (text: string): string => marked.parse(text) as string;
const renderInline = (text: string): string => marked.parseInline(text) as string;

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** Returns the reference of an OpenAPI document as a page without scripts: operations by tag, then the schemas. ACC-17. */
export function renderReferencePage(document: ReferenceDocument, stylesheet: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const renderTag = ({ name, description = '' }: ReferenceDocument['tags'][number]) => {
    const own = operations.filter(({ operation }) => operation.tags?.[0] === name);
    const parts = own.map(({ path, method, operation }) => renderOperation(document, method, path, operation));
    return `<h2 id="tag-${toAnchor(name)}">${escapeHtml(name)}</h2>${renderMarkdown(description)}${parts.join('')}`;
  };
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<h3 id="schema-${name}">${name}</h3>${renderMarkdown(schema.description ?? '')}${renderProperties(schema)}`,
  );
  const links = document.tags.map(({ name }) => `<li><a href="#tag-${toAnchor(name)}">${escapeHtml(name)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title>
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<nav aria-label="Contents"><ul>${links.join('')}<li><a href="#schemas">Schemas</a></li></ul></nav>
<main>
<h1>${escapeHtml(document.info.title)}</h1>
<p>The same as an OpenAPI document: <a href="/openapi.json">/openapi.json</a></p>
${renderMarkdown(document.info.description ?? '')}
${document.tags.map(renderTag).join('')}
<h2 id="schemas">Schemas</h2>
${schemas.join('')}
</main>
</body>
</html>
`;
}

function renderOperation(document: ReferenceDocument, method: string, path: string, operation: Operation): string {
  const { operationId, summary = '', description = '', parameters = [], requestBody, responses = {} } = operation;
  const resolved = parameters.map((each) => (each.$ref ? document.components.parameters![nameOf(each.$ref)]! : each));
  const rows = resolved.map(({ name, in: location, required, description: about = '', schema }) => [
    `<code>${escapeHtml(name)}</code>`,
    `${location}${required ? ', required' : ''}`,
    schema ? renderType(schema) : '',
    renderInline(about),
  ]);
  const bodies = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema }]) => `<li><code>${escapeHtml(type)}</code>: ${schema ? renderType(schema) : ''}</li>`,
  );
  const answers = Object.entries(responses).map(([status, response]) => {
    const { description: about = '', content = {} } = response.$ref
      ? (document.components.responses as typeof responses)[nameOf(response.$ref)]!
      : response;
    const schema = Object.values(content)[0]?.schema;
    return [status, schema ? renderType(schema) : '', renderInline(about)];
  });
  return `<section>
<h3 id="${escapeHtml(operationId ?? `${method}-${toAnchor(path)}`)}">${escapeHtml(summary)}</h3>
<p><code>${method.toUpperCase()} ${escapeHtml(path)}</code></p>
${renderMarkdown(description)}
${renderTable(['Parameter', 'In', 'Type', 'Description'], rows)}
${bodies.length > 0 ? `<p>Body:</p><ul>${bodies.join('')}</ul>` : ''}
${renderTable(['Status', 'Body', 'Description'], answers)}
</section>`;
}

/** Renders the properties of a schema, or its type where it has none. */
function renderProperties(schema: Schema): string {
  const { properties, required = [] } = schema;
  if (!properties) return `<p>${renderType({ ...schema, description: undefined })}</p>`;
  const rows = Object.entries(properties).map(([name, property]) => [
    `<code>${escapeHtml(name)}</code>${required.includes(name) ? '' : ' (optional)'}`,
    renderType(property),
    renderInline(property.description ?? ''),
  ]);
  return renderTable(['Property', 'Type', 'Description'], rows);
}

function renderType({ $ref, type, enum: values, const: value, items, oneOf, anyOf, allOf }: Schema): string {
  if ($ref) return `<a href="#schema-${nameOf($ref)}">${nameOf($ref)}</a>`;
  const members = oneOf ?? anyOf ?? allOf;
  if (members) return members.map(renderType).join(allOf ? ' and ' : ' or ');
  if (items) return `list of ${renderType(items)}`;
  if (values) return values.map((each) => `<code>${escapeHtml(String(each))}</code>`).join(' or ');
  if (value !== undefined) return `<code>${escapeHtml(String(value))}</code>`;
  return [type ?? 'any'].flat().join(' or ');
}

function renderTable(headings: string[], rows: string[][]): string {
  if (rows.length === 0) return '';
  const toRow = (cells: string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="table"><table><thead>${toRow(headings, 'th')}</thead><tbody>${rows.map((row) => toRow(row, 'td')).join('')}</tbody></table></div>`;
}

const toAnchor = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** Styles of the page, which its Content-Security-Policy allows from a file only. */
export const REFERENCE_STYLES = `:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 2rem; }
  nav { position: sticky; top: 1rem; align-self: start; }
}
nav ul { list-style: none; padding: 0; }
a { color: light-dark(#0b57a4, #8ab8ff); }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
pre, .table { overflow-x: auto; }
pre { padding: 0.75rem; background: light-dark(#f2f3f5, #22252a); }
section { border-top: 1px solid light-dark(#d5d8dd, #3b3f46); }
table { border-collapse: collapse; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top; }
th { white-space: nowrap; }
`;
