import type {
  CreateMeetingMutation,
  CreateMeetingMutationVariables,
  RunningProjectsQuery,
  RunningProjectsQueryVariables,
} from './graphql-types.ts';

declare const process: { argv: string[] };

/*
 * A GraphQL client whose variables and results have the types that GraphQL Code Generator generates from the schema and the scalar
 * map. Prints the running projects of a builder and the meeting that it creates for the first of them.
 */

/** A document with the types of its result and variables. */
interface Document<Answer, Variables> {
  text: string;
  /** Never set; it only carries the types. */
  types?: (variables: Variables) => Answer;
}

export const runningProjects: Document<RunningProjectsQuery, RunningProjectsQueryVariables> = {
  text: /* GraphQL */ `
    query RunningProjects($builderId: BuilderId!, $offset: PageOffset, $limit: PageLimit) {
      projects(builderId: $builderId, status: IN_PROGRESS, offset: $offset, limit: $limit) {
        meta { totalCount offset limit }
        data { id name createdAt }
      }
    }
  `,
};

export const createMeeting: Document<CreateMeetingMutation, CreateMeetingMutationVariables> = {
  text: /* GraphQL */ `
    mutation CreateMeeting($builderId: BuilderId!, $projectId: ProjectId, $title: MeetingTitle!) {
      createMeeting(builderId: $builderId, projectId: $projectId, title: $title) { id builderId title date }
    }
  `,
};

export class GraphqlClient {
  readonly #baseUrl: string;
  readonly #token: string;

  constructor(baseUrl: string, token: string) {
    this.#baseUrl = baseUrl;
    this.#token = token;
  }

  async send<Answer, Variables>(document: Document<Answer, Variables>, variables: Variables): Promise<Answer> {
    const response = await fetch(`${this.#baseUrl}/graphql`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: document.text, variables }),
    });
    const { data, errors } = (await response.json()) as { data?: Answer; errors?: { message: string }[] };
    if (!data || errors) throw new Error(errors?.[0]?.message ?? `${response.status}`);
    return data;
  }
}

type Project = RunningProjectsQuery['projects']['data'][number];
type BuilderId = RunningProjectsQueryVariables['builderId'];

/** Returns all running projects, with one request per page. */
export async function allRunningProjects(client: GraphqlClient, builderId: BuilderId): Promise<Project[]> {
  const found: Project[] = [];
  const limit = 2;
  for (let offset = 0; ; offset += limit) {
    const { projects } = await client.send(runningProjects, { builderId, offset, limit });
    found.push(...projects.data);
    if (offset + limit >= projects.meta.totalCount) return found;
  }
}

const [baseUrl, token, builderId] = process.argv.slice(2) as [string, string, BuilderId];
const client = new GraphqlClient(baseUrl, token);
const projects = await allRunningProjects(client, builderId);
const variables = { builderId, projectId: projects[0]?.id, title: 'Weekly site meeting' };
const { createMeeting: meeting } = await client.send(createMeeting, variables);
console.log(JSON.stringify({ projects: projects.map(({ id }) => id), meeting }));
