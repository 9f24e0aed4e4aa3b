import type { FastifyInstance } from 'fastify';
import { PASSWORD, toQuery } from './fixtures.ts';

/** A form of a page with its default fields. */
interface Form {
  action: string;
  fields: Record<string, string>;
  buttons: { name: string; value: string; text: string }[];
}

/** A response as the browser shows it. */
export interface PageView {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: string;
  /** Text of the first heading. */
  heading: string;
  /** Target of a redirect. */
  location: string | null;
  forms: Form[];
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const decode = (text: string) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!);

/** Simulates a browser without JavaScript: keeps cookies, submits forms and follows redirects to the service's own paths. */
export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(
    readonly app: FastifyInstance,
    readonly address = '203.0.113.7',
  ) {}

  async send(
    method: 'GET' | 'POST',
    url: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<PageView> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await this.app.inject({
      method,
      url,
      remoteAddress: this.address,
      headers: {
        ...(cookie && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      payload: body,
    });
    for (const { name, value } of response.cookies) this.cookies.set(name, value);
    const heading = decode(/<h1>([\s\S]*?)<\/h1>/.exec(response.body)?.[1] ?? '');
    const { statusCode: status, body: text } = response;
    const location = response.headers.location ?? null;
    return { status, headers: response.headers, body: text, heading, location, forms: formsOf(text) };
  }

  /** Opens an authorization request with these parameters. */
  open(parameters: Record<string, string | undefined>): Promise<PageView> {
    return this.send('GET', `/oauth/authorize?${toQuery(parameters)}`);
  }

  /** Submits the form with the button of this text or value, with these fields, and follows the service's own redirects. */
  async submit(view: PageView, button: string, fields: Record<string, string> = {}): Promise<PageView> {
    return this.follow(await this.submitWithoutFollowing(view, button, fields));
  }

  /** Submits the form with the button of this text or value and returns the response. */
  submitWithoutFollowing(view: PageView, button: string, fields: Record<string, string> = {}): Promise<PageView> {
    for (const form of view.forms) {
      const submitter = form.buttons.find(({ text, value }) => text === button || value === button);
      if (!submitter) continue;
      const body = { ...form.fields, ...fields, ...(submitter.name && { [submitter.name]: submitter.value }) };
      return this.send('POST', form.action, toQuery(body));
    }
    throw new Error(`There is no button "${button}" on the page "${view.heading}" (${view.status}).`);
  }

  /** Follows redirects to paths of the service. */
  async follow(view: PageView): Promise<PageView> {
    let current = view;
    while (current.location?.startsWith('/')) current = await this.send('GET', current.location);
    return current;
  }

  /** Submits the sign-in form. */
  signIn(view: PageView, email: string, password = PASSWORD): Promise<PageView> {
    return this.submit(view, 'Sign in', { email, password });
  }
}

function formsOf(body: string): Form[] {
  return [...body.matchAll(/<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([, action, content]) => {
      const inputs = [...content!.matchAll(/<input([^>]*)>/g)].map(([, attributes]) => attributesOf(attributes!));
      const submitted = inputs.filter(({ type, checked }) => type !== 'radio' || checked !== undefined);
      const buttons = [...content!.matchAll(/<button([^>]*)>([\s\S]*?)<\/button>/g)].map(([, attributes, text]) => {
        const { name = '', value = '' } = attributesOf(attributes!);
        return { name, value, text: decode(text!) };
      });
      const fields = Object.fromEntries(submitted.map(({ name, value }) => [name!, value ?? '']));
      return { action: decode(action!), fields, buttons };
    },
  );
}

const attributesOf = (text: string): Record<string, string | undefined> =>
  Object.fromEntries(
    [...text.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [name, decode(value ?? '')]),
  );
