import { createClient } from './sdk/client/index.ts';
import { createMeeting, listBuilders, listTimesheets, type Meeting } from './sdk/index.ts';

/*
 * The same contract through the functions that @hey-api/openapi-ts makes, one for each operation.
 */

export const clientOf = (baseUrl: string, token: string) => createClient({ baseUrl, auth: token });

type Generated = ReturnType<typeof clientOf>;

export async function namesOf(client: Generated): Promise<string[]> {
  const { data, error } = await listBuilders({ client, query: { limit: 5 } });
  if (error) throw new Error('errors' in error ? error.errors[0]?.message : error.message);
  return data.data.map(({ name }) => name);
}

export async function plan(client: Generated, builderId: string, title: string): Promise<Meeting> {
  const { data } = await createMeeting({ client, path: { builderId }, body: { title }, throwOnError: true });
  return data;
}

// What the contract does not have does not compile.
export const refused = (client: Generated) => [
  // @ts-expect-error a limit is a number
  listTimesheets({ client, query: { limit: '5' } }),
  // @ts-expect-error a meeting has a title
  createMeeting({ client, path: { builderId: 'buil_a' }, body: {} }),
];
