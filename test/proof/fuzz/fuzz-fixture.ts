import type { GraphQLSchema } from 'graphql';
import { AccessTokens } from '../../../src/auth/access-tokens.ts';
import type { Databases } from '../../../src/database/database.ts';
import type { DemoFile } from '../../../src/demo/demo-file.ts';
import type { Clock } from '../../../src/shared/clock.ts';
import { schema } from '../../support/definition.ts';
import { createPicture } from '../../support/images.ts';
import { createSamples, type Samples } from '../../support/samples.ts';
import { Contract } from './contract.ts';

/** A generated request. */
export interface GeneratedRequest {
  method: string;
  url: string;
  headers: Record<string, string | string[]>;
  body?: Buffer;
}

/** Tokens, clients and records that requests are generated from. */
export interface FuzzFixture {
  contract: Contract;
  schema: GraphQLSchema;
  /** Ids of records of the first builder of the authorized client. */
  samples: Samples;
  /** Access tokens. `authorized` has access to the samples. */
  tokens: { authorized: string; limitedScopes: string; otherIntegrator: string; internal: string; expired: string };
  /** A confidential client, and a public one. */
  client: { clientId: string; clientSecret: string };
  publicClient: { clientId: string; redirectUri: string };
  baseUrl: string;
  /** Path and query of signed URLs. */
  signedUrls: { upload: string; download: string };
  picture: Buffer;
}

interface FuzzFixtureOptions {
  /** Origin of the service. */
  origin: string;
  databases: Databases;
  demo: DemoFile;
  tokenKey: string;
  clock: Clock;
}

const TWO_HOURS = 7_200_000;

/** Returns the fixture of a running service with the demo data. */
export async function createFuzzFixture({
  origin,
  databases,
  demo,
  tokenKey: key,
  clock,
}: FuzzFixtureOptions): Promise<FuzzFixture> {
  const { baseUrl } = demo;
  const clientOf = (name: string) => demo.clients.find((client) => client.name === name)!;
  const sign = async (name: string, scopes: (own: string[]) => string[] = (own) => own, at = clock) => {
    const { clientId, scopes: own } = clientOf(name);
    const tokens = new AccessTokens({ keys: [key], issuer: baseUrl, clock: at });
    return (await tokens.sign('au1', { sub: clientId, client_id: clientId, scope: scopes(own).join(' ') })).token;
  };
  const { clientId, clientSecret, builderIds } = clientOf('A');
  const publicClient = clientOf('A public');
  const fixture = {
    contract: new Contract(await (await fetch(`${origin}/openapi.json`)).json()),
    schema,
    samples: await createSamples(databases.au1, builderIds[0]!, { tokenKey: key }),
    tokens: {
      authorized: await sign('A'),
      limitedScopes: await sign('A', (own) => own.slice(0, 2)),
      otherIntegrator: await sign('B'),
      internal: await sign('internal'),
      expired: await sign('A', undefined, { now: () => clock.now() - TWO_HOURS }),
    },
    client: { clientId, clientSecret: clientSecret! },
    publicClient: { clientId: publicClient.clientId, redirectUri: publicClient.redirectUris[0]! },
    baseUrl,
    picture: await createPicture(),
  };
  return { ...fixture, signedUrls: await createSignedUrls(origin, fixture) };
}

/** Creates a signed URL for an upload and one of a stored file. They are valid for 15 minutes. */
export async function createSignedUrls(
  origin: string,
  { samples, tokens, picture: bytes }: Pick<FuzzFixture, 'samples' | 'tokens' | 'picture'>,
): Promise<FuzzFixture['signedUrls']> {
  const attachments = `${origin}/builders/${samples.BuilderId}/attachments`;
  const headers = { Authorization: `Bearer ${tokens.authorized}` };
  const intent = { contentType: 'image/jpeg', fileName: 'a.jpg', size: bytes.length, type: 'attachment' };
  const presigned = await fetch(`${attachments}/presign`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(intent),
  });
  const form = new FormData();
  form.set('type', 'attachment');
  form.set('file', new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'a.jpg');
  const uploaded = await fetch(`${attachments}/upload`, { method: 'POST', headers, body: form });
  const { uploadUrl } = (await presigned.json()) as { uploadUrl: string };
  const { imageUrl } = (await uploaded.json()) as { imageUrl: string };
  const local = (url: string) => new URL(url).pathname + new URL(url).search;
  return { upload: local(uploadUrl), download: local(imageUrl) };
}
