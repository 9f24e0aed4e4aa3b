import type { FastifyInstance } from 'fastify';
import type { StaffRole } from '../../entities/user.entity.ts';
import { User } from '../../entities/user.entity.ts';
import type { Databases } from '../../src/database/database.ts';
import type { Clock } from '../../src/shared/clock.ts';
import type { RegionId } from '../../src/shared/regions.ts';
import { Browser } from '../oauth/browser.ts';
import { CHEAP_HASH } from '../oauth/fixtures.ts';

interface GraphqlResult {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the query determines the type.
  data?: any;
  errors?: {
    message: string;
    path?: string[];
    extensions: { code: string; http: { status: number }; errors?: unknown[] };
  }[];
}

/** A staff user's browser. */
export class ConsoleBrowser extends Browser {
  /** Sends an operation as a page of the console does. */
  async query(
    query: string,
    variables: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<GraphqlResult> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await this.app.inject({
      ...{ method: 'POST', url: '/console/graphql', remoteAddress: this.address },
      headers: { cookie, 'x-console-csrf': '1', 'sec-fetch-site': 'same-origin', ...headers },
      payload: { query, variables },
    });
    for (const { name, value } of response.cookies) this.cookies.set(name, value);
    return { status: response.statusCode, ...response.json() };
  }
}

/** Adds a staff user with the password of the fixtures. */
export async function addStaff(
  { databases, clock }: { databases: Databases; clock: Clock },
  role: StaffRole,
  { id = `user_${role.toLowerCase()}`, region = 'au1' as RegionId, name = `Kim ${role}` } = {},
): Promise<string> {
  const at = new Date(clock.now()).toISOString();
  await databases[region].fork().insert(User, {
    ...{ id, name, email: `${id.replace('_', '.')}@operator.example`, passwordHash: CHEAP_HASH, pictureKey: null },
    ...{ staffRole: role, disabledAt: null, createdAt: at, updatedAt: at },
  });
  return `${id.replace('_', '.')}@operator.example`;
}

/** Returns a browser that has signed in to the console. */
export async function signInToConsole(app: FastifyInstance, email: string): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(app);
  const page = await browser.send('GET', '/console/sign-in');
  const response = await browser.submitWithoutFollowing(page, 'Sign in', { email, password: 'correct horse battery' });
  if (!response.location?.startsWith('/console'))
    throw new Error(`The sign-in failed: ${response.status} ${response.heading}`);
  return browser;
}
