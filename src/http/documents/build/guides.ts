import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { escapeHtml, type Link, renderPage, type Section } from '../page.ts';
import { renderInline, renderMarkdown, toAnchor, toText } from './markdown.ts';
import { nameOf, type ReferenceDocument, type ReferenceResponse, toOperationAnchor } from './reference-page.ts';

/** Pages for integrators below `docs/`, in the order of the contents. Those for operators and engineers are not served. */
const FILES =
  `tutorial rest code-flow graphql stay-in-sync webhooks gallery-sync photo-reports meetings attendance debugging agents
  contract/access contract/oauth contract/headers contract/versions contract/identifiers contract/lists contract/reads contract/limits
  contract/errors contract/uploads contract/photos contract/photo-reports contract/meetings contract/attendance contract/events
  contract/webhooks contract/request-log`.split(/\s+/);

/** Path of the guides. */
const GUIDES = '/docs/guides';

/** Operations that the page of a code lists. */
const MAX_OPERATIONS = 20;
/** Renders the Markdown files of the folder, and the codes of errors from the OpenAPI document, as pages that work without scripts. */
export async function renderGuides(folder: string, document: ReferenceDocument) {
  const files = await Promise.all(
    FILES.map(async (name) => ({ name, text: await readFile(join(folder, `${name}.md`), 'utf8') })),
  );
  const sources = files.map(({ name, text }) => {
    const [, title = name, body = ''] = /^# ([^\n]*)\n(.*)$/s.exec(text) ?? [];
    return {
      name,
      title: name.startsWith('contract/') ? `Contract: ${title.replace(/ \([A-Z]+\)$/, '')}` : title,
      body,
    };
  });
  sources.push({ name: 'error-codes', title: 'Error codes', body: describeCodes(document) });
  const guides = sources.map(({ name, title }): Link => [`${GUIDES}/${name}`, title]);
  const links: Link[] = [['/docs/', 'Reference'], ...guides];
  const pages = new Map(
    sources.map(({ name, title, body }) => {
      const content = linkGuides(renderMarkdown(body), name);
      return [`${GUIDES}/${name}`, renderPage({ title, links, content })];
    }),
  );
  const list = guides.map(([href, text]) => `<li><a href="${href}">${escapeHtml(text)}</a></li>`);
  pages.set(GUIDES, renderPage({ title: 'Guides', links, content: `<ul>${list.join('')}</ul>` }));
  return { pages, links, sections: sources.flatMap(listSections) };
}

function listSections({ name, title, body }: { name: string; title: string; body: string }): Section[] {
  const path = `${GUIDES}/${name}`;
  const [first = '', ...others] = body.replace(/<!--.*?-->/gs, '').split(/^#{2,3} /m);
  const sections = others.map((section) => {
    const end = section.indexOf('\n');
    const heading = section.slice(0, end);
    return {
      href: `${path}#${toAnchor(heading)}`,
      title: `${title}: ${toText(renderInline(heading))}`,
      text: toText(renderMarkdown(section.slice(end))),
    };
  });
  return [{ href: path, title, text: toText(renderMarkdown(first)) }, ...sections];
}

/** Turns links between files into links between the served pages. Those to other files remain as text. */
function linkGuides(html: string, name: string): string {
  return html.replace(
    /<a href="(?!https?:|\/docs\/)([^"#]*)(#[^"]*)?">(.*?)<\/a>/gs,
    (_link, file: string, anchor = '', text: string) => {
      const target = posix.join(posix.dirname(name), file).replace(/\.md$/, '');
      if (file === '') return `<a href="${anchor}">${text}</a>`;
      return FILES.includes(target) ? `<a href="${GUIDES}/${target}${anchor}">${text}</a>` : text;
    },
  );
}

interface ErrorCode {
  status: string;
  messages: Set<string>;
  /** The operations that document it, as links. */
  operations: Set<string>;
}

/** Returns a section for each code of an error in Markdown: its status, messages and operations. */
function describeCodes(document: ReferenceDocument): string {
  const codes = new Map<string, ErrorCode>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const link = `[\`${method.toUpperCase()} ${path}\`](/docs/#${toOperationAnchor(method, path, operation)})`;
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        for (const { code, message } of findErrors(document, response)) {
          const known = codes.get(code) ?? { status, messages: new Set(), operations: new Set() };
          codes.set(code, known);
          known.messages.add(message);
          known.operations.add(link);
        }
      }
    }
  }
  const sections = [...codes].sort(([, one], [, other]) => one.status.localeCompare(other.status));
  return sections
    .map(([code, { status, messages, operations }]) => {
      const texts = [...messages].map((message) => `- ${message}`).join('\n');
      const users = operations.size > MAX_OPERATIONS ? 'Most operations.' : [...operations].join(', ');
      return `## ${code}\n\nHTTP status ${status}.\n\n${texts}\n\nOperations: ${users}\n`;
    })
    .join('\n');
}

/** Returns the examples of a response that have the body of an error. */
function findErrors(
  { components }: ReferenceDocument,
  response: ReferenceResponse,
): { code: string; message: string }[] {
  const resolved = response.$ref ? components.responses![nameOf(response.$ref)]! : response;
  const values = Object.values(resolved.content ?? {}).flatMap(({ example, examples = {} }) => [
    example,
    ...Object.values(examples).map(({ value }) => value),
  ]);
  return values.flatMap((value) => (value?.code && value.message ? [value as { code: string; message: string }] : []));
}
