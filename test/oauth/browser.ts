import type { FastifyInstance } from 'fastify';
import { PASSWORD, queryOf } from './people.ts';

/** A form of a page, as a browser without JavaScript knows it. */
interface Form {
  action: string;
  fields: Record<string, string>;
  buttons: { name: string; value: string; text: string }[];
}

export interface View {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: string;
  /** Text of the first heading. */
  heading: string;
  /** Where a redirect goes. */
  location: string | null;
  forms: Form[];
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const decode = (text: string) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!);

/** A browser as plain as can be: it keeps cookies, reads forms and follows redirects to our own host. No script runs. */
export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(
    readonly app: FastifyInstance,
    readonly address = '203.0.113.7',
  ) {}

  async send(method: 'GET' | 'POST', url: string, body?: string, headers: Record<string, string> = {}): Promise<View> {
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

  open(parameters: Record<string, string | undefined>): Promise<View> {
    return this.send('GET', `/oauth/authorize?${queryOf(parameters)}`);
  }

  /** Presses the button whose text or value is this, with these fields filled in, and follows our own redirects. */
  async press(view: View, button: string, fields: Record<string, string> = {}): Promise<View> {
    return this.follow(await this.pressOnly(view, button, fields));
  }

  pressOnly(view: View, button: string, fields: Record<string, string> = {}): Promise<View> {
    for (const form of view.forms) {
      const pressed = form.buttons.find(({ text, value }) => text === button || value === button);
      if (!pressed) continue;
      const sent = { ...form.fields, ...fields, ...(pressed.name && { [pressed.name]: pressed.value }) };
      return this.send('POST', form.action, queryOf(sent));
    }
    throw new Error(`There is no button "${button}" on the page "${view.heading}" (${view.status}).`);
  }

  async follow(view: View): Promise<View> {
    let at = view;
    while (at.location?.startsWith('/')) at = await this.send('GET', at.location);
    return at;
  }

  signIn(view: View, email: string, password = PASSWORD): Promise<View> {
    return this.press(view, 'Sign in', { email, password });
  }
}

function formsOf(body: string): Form[] {
  return [...body.matchAll(/<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([, action, content]) => {
      const inputs = [...content!.matchAll(/<input([^>]*)>/g)].map(([, attributes]) => attributesOf(attributes!));
      const sent = inputs.filter(({ type, checked }) => type !== 'radio' || checked !== undefined);
      const buttons = [...content!.matchAll(/<button([^>]*)>([\s\S]*?)<\/button>/g)].map(([, attributes, text]) => {
        const { name = '', value = '' } = attributesOf(attributes!);
        return { name, value, text: decode(text!) };
      });
      const fields = Object.fromEntries(sent.map(({ name, value }) => [name!, value ?? '']));
      return { action: decode(action!), fields, buttons };
    },
  );
}

const attributesOf = (text: string): Record<string, string | undefined> =>
  Object.fromEntries(
    [...text.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [name, decode(value ?? '')]),
  );
