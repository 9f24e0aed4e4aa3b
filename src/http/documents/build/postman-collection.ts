import { promisify } from 'node:util';
import converter from 'openapi-to-postmanv2';
import { ID_PREFIXES } from '../../../../schema/ids.ts';
import { EXAMPLE_ID, PLACEHOLDER_URL } from '../page.ts';

interface Folder {
  item: (Folder | Request)[];
}

interface Request {
  request: { method: string; url: { path: string[] }; body: { raw?: string } };
  event?: object[];
}

const OPTIONS = {
  folderStrategy: 'Tags',
  parametersResolution: 'Example',
  enableOptionalParameters: false,
};

/** Takes the token from the response to every other request of the collection. */
const KEEP_TOKEN = {
  listen: 'test',
  script: {
    type: 'text/javascript',
    exec: ["if (pm.response.code === 200) pm.collectionVariables.set('accessToken', pm.response.json().access_token);"],
  },
};

const TOKEN_REQUEST = {
  grant_type: 'client_credentials',
  client_id: '{{clientId}}',
  client_secret: '{{clientSecret}}',
  audience: '{{baseUrl}}',
  scope: '{{scope}}',
};

/**
 * Returns a Postman collection of the operations of an OpenAPI document, as JSON. Ids are variables of the collection, and its token is that of
 * the last request of one. Equal documents give equal collections.
 */
export async function createPostmanCollection(document: object): Promise<string> {
  const data = JSON.parse(JSON.stringify(document), reviveForConverter);
  const conversion = await promisify(converter.convertV2)({ type: 'json', data }, OPTIONS);
  if (!conversion.result) throw new Error(`No Postman collection: ${conversion.reason}`);
  const collection: Folder = JSON.parse(JSON.stringify(conversion.output[0].data), omitGenerated);
  const tokenRequest = listRequests(collection).find(({ request }) => request.url.path.join('/') === 'oauth/token')!;
  tokenRequest.request.body.raw = JSON.stringify(TOKEN_REQUEST, null, 2);
  tokenRequest.event = [KEEP_TOKEN];
  const ids = new Map([['clientId', '']]);
  const item = JSON.parse(
    JSON.stringify(collection.item).replace(EXAMPLE_ID, (example, prefix: string) => {
      const [kind] = Object.entries(ID_PREFIXES).find(([, each]) => each === prefix)!;
      ids.set(`${kind}Id`, example);
      return `{{${kind}Id}}`;
    }),
  );
  const values = { baseUrl: PLACEHOLDER_URL, clientSecret: '', scope: 'read:builders read:projects', accessToken: '' };
  return JSON.stringify({
    ...collection,
    item,
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{accessToken}}', type: 'string' }] },
    variable: [...Object.entries(values), ...ids].map(([key, value]) => ({ key, value })),
  });
}

interface Parameter {
  in?: string;
  example?: unknown;
  examples?: { usual: { value: unknown } };
  schema: { enum?: unknown[] };
}

interface Form {
  example: object;
  schema: { properties: Record<string, unknown>; anyOf?: unknown };
}

/**
 * Gives each parameter one example, and forms the fields of theirs. The converter fails with named examples that are 0 or empty, and makes up
 * values where it finds none. Parameters that are to be sent have an example without a name.
 */
function reviveForConverter(key: string, value: unknown) {
  if (key === 'multipart/form-data') {
    const { example, schema } = value as Form;
    for (const name of Object.keys(schema.properties)) if (!(name in example)) delete schema.properties[name];
    delete schema.anyOf;
  }
  const { examples, ...parameter } = (value ?? {}) as Parameter;
  if (!parameter.in || !parameter.schema) return value;
  const example = parameter.example ?? examples?.usual.value ?? parameter.schema.enum?.[0];
  return { ...parameter, example, required: parameter.example !== undefined };
}

/** Leaves out what differs in each conversion, and the responses, which the reference shows. */
function omitGenerated(this: object, key: string, value: unknown) {
  if (key === 'response') return [];
  // The one of the collection applies to all requests.
  if (key === 'auth') return undefined;
  return key === '_postman_id' || (key === 'id' && 'name' in this) ? undefined : value;
}

const listRequests = ({ item }: Folder): Request[] =>
  item.flatMap((each) => ('item' in each ? listRequests(each) : [each]));
