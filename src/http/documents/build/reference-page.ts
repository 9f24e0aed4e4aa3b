import { escapeHtml, type Link, renderPage } from '../page.ts';
import { renderInline, renderMarkdown, renderTable, toAnchor } from './markdown.ts';

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
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses?: Record<string, ReferenceResponse>;
}

type Example = Record<string, unknown>;

export interface ReferenceResponse {
  $ref?: string;
  description?: string;
  content?: Record<string, { schema?: Schema; example?: Example; examples?: Record<string, { value?: Example }> }>;
}

/** The parts of an OpenAPI document that the page shows. */
export interface ReferenceDocument {
  info: { title: string; description?: string };
  tags: { name: string; description?: string; externalDocs?: { url: string } }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters?: Record<string, Parameter>;
    responses?: Record<string, ReferenceResponse>;
  };
}

export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** Returns the anchor of a tag, which is that of the interactive reference. */
const toTagAnchor = (name: string): string => `tag/${toAnchor(name)}`;

/** Returns the anchor of an operation, which is that of the interactive reference. */
export const toOperationAnchor = (method: string, path: string, { tags = [] }: Operation): string =>
  `${toTagAnchor(tags[0] ?? '')}/${method.toUpperCase()}${path}`;

/** Returns the reference of an OpenAPI document as a page without scripts: operations by tag, then the schemas. ACC-17. */
export function renderReferencePage(document: ReferenceDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const renderTag = ({ name, description = '', externalDocs }: ReferenceDocument['tags'][number]) => {
    const own = operations.filter(({ operation }) => operation.tags?.[0] === name);
    const parts = own.map(({ path, method, operation }) => renderOperation(document, method, path, operation));
    const guide = externalDocs ? `<p><a href="${escapeHtml(externalDocs.url)}">Guide</a></p>` : '';
    return `<h2 id="${toTagAnchor(name)}">${escapeHtml(name)}</h2>${renderMarkdown(description)}${guide}${parts.join('')}`;
  };
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<h3 id="schema-${name}">${name}</h3>${renderMarkdown(schema.description ?? '')}${renderProperties(schema)}`,
  );
  return renderPage({
    title: document.info.title,
    links: [
      ['/docs/guides', 'Guides'],
      ...document.tags.map(({ name }): Link => [`#${toTagAnchor(name)}`, name]),
      ['#schemas', 'Schemas'],
    ],
    content: `<p>The same as an OpenAPI document: <a href="/openapi.json">/openapi.json</a></p>
${renderMarkdown(document.info.description ?? '')}
${document.tags.map(renderTag).join('')}
<h2 id="schemas">Schemas</h2>
${schemas.join('')}`,
  });
}

function renderOperation(document: ReferenceDocument, method: string, path: string, operation: Operation): string {
  const { summary = '', description = '', parameters = [], requestBody, responses = {} } = operation;
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
      ? document.components.responses![nameOf(response.$ref)]!
      : response;
    const schema = Object.values(content)[0]?.schema;
    return [status, schema ? renderType(schema) : '', renderInline(about)];
  });
  return `<section>
<h3 id="${toOperationAnchor(method, path, operation)}">${escapeHtml(summary)}</h3>
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
