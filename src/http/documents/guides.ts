import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { PACKAGE_ROOT } from '../../shared/version.ts';
import { escapeHtml, renderMarkdown, renderPage, toAnchor } from './page.ts';
import { nameOf, type ReferenceDocument, type ReferenceResponse } from './reference-page.ts';

/** Pages for integrators below `docs/`, in the order of the contents. Those for operators and engineers are not served. */
const FILES =
  `tutorial rest code-flow graphql stay-in-sync webhooks uploads gallery-sync photo-reports meetings attendance request-bodies openapi
  contract/access contract/oauth contract/headers contract/versions contract/identifiers contract/lists contract/reads contract/limits
  contract/errors contract/uploads contract/photos contract/photo-reports contract/meetings contract/attendance contract/events
  contract/webhooks`.split(/\s+/);

/** Path of the guides. */
const GUIDES = '/docs/guides';

const MAX_RESULTS = 30;
/** Operations that the page of a code lists. */
const MAX_OPERATIONS = 20;
/** Characters of a result's text. */
const EXCERPT = 240;

interface Section {
  /** Path of its page, with the anchor of its heading. */
  href: string;
  title: string;
  text: string;
}

/** The guides for integrators as pages that work without scripts, and a search of their sections. */
export class Guides {
  /** HTML by path. */
  readonly pages = new Map<string, string>();
  readonly #sections: Section[] = [];
  readonly #stylesheet: string;
  #links: [href: string, text: string][] = [['/docs/', 'Reference']];

  private constructor(stylesheet: string) {
    this.#stylesheet = stylesheet;
  }

  /** Renders the Markdown files of the package, and the codes of errors from the OpenAPI document. */
  static async load(document: ReferenceDocument, stylesheet: string): Promise<Guides> {
    const guides = new Guides(stylesheet);
    const files = await Promise.all(
      FILES.map(async (name) => ({ name, text: await readFile(join(PACKAGE_ROOT, 'docs', `${name}.md`), 'utf8') })),
    );
    const sources = files.map(({ name, text }) => {
      const [, title = name, body = ''] = /^# ([^\n]*)\n(.*)$/s.exec(text) ?? [];
      return { name, title: name.startsWith('contract/') ? `Contract: ${title.toLowerCase()}` : title, body };
    });
    sources.push({ name: 'error-codes', title: 'Error codes', body: describeCodes(document) });
    guides.#links = [
      ...guides.#links,
      ...sources.map(({ name, title }): [string, string] => [`${GUIDES}/${name}`, title]),
    ];
    for (const { name, title, body } of sources) guides.#add(name, title, body);
    guides.pages.set(GUIDES, guides.#render('Guides', guides.#renderContents()));
    return guides;
  }

  #add(name: string, title: string, body: string): void {
    const path = `${GUIDES}/${name}`;
    this.pages.set(path, this.#render(title, linkGuides(renderMarkdown(body), name)));
    const [first = '', ...others] = body.replace(/<!--.*?-->/gs, '').split(/^#{2,3} /m);
    this.#sections.push({ href: path, title, text: first });
    for (const section of others) {
      const end = section.indexOf('\n');
      const heading = section.slice(0, end);
      this.#sections.push({
        href: `${path}#${toAnchor(heading)}`,
        title: `${title}: ${heading}`,
        text: section.slice(end),
      });
    }
  }

  #renderContents(): string {
    return `<ul>${this.#links.map(([href, text]) => `<li><a href="${href}">${escapeHtml(text)}</a></li>`).join('')}</ul>`;
  }

  #render(title: string, content: string, searched?: string): string {
    return renderPage({ title, stylesheet: this.#stylesheet, links: this.#links, content, searched });
  }

  /** Returns a page of the sections that contain all words, those with the words in their titles first. */
  search(query: string): string {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const contains = (text: string) => words.every((word) => text.toLowerCase().includes(word));
    const found = words.length === 0 ? [] : this.#sections.filter(({ title, text }) => contains(`${title} ${text}`));
    const ranked = [...found.filter(({ title }) => contains(title)), ...found.filter(({ title }) => !contains(title))];
    const results = ranked.slice(0, MAX_RESULTS).map(({ href, title, text }) => {
      const at = Math.max(0, text.toLowerCase().indexOf(words[0]!) - EXCERPT / 4);
      return `<li><a href="${href}">${escapeHtml(title)}</a><p>${escapeHtml(text.slice(at, at + EXCERPT).toWellFormed())}</p></li>`;
    });
    const content =
      results.length > 0 ? `<ul>${results.join('')}</ul>` : '<p>No section contains all of these words.</p>';
    return this.#render('Search', content, query);
  }
}

/** Turns links between files into links between the served pages. Those to other files remain as text. */
function linkGuides(html: string, name: string): string {
  return html.replace(
    /<a href="(?!https?:)([^"#]*)(#[^"]*)?">(.*?)<\/a>/gs,
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
    for (const [method, { operationId, responses = {} }] of Object.entries(methods)) {
      const link = `[\`${method.toUpperCase()} ${path}\`](/docs/#${operationId})`;
      for (const [status, response] of Object.entries(responses)) {
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
