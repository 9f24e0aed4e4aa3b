import type { GraphQLSchema } from 'graphql';
import { buildServiceSchema } from '../../../resolvers/service-schema.ts';
import { AccessTokens } from '../../../src/auth/access-tokens.ts';
import type { Databases } from '../../../src/database/database.ts';
import type { DemoFile } from '../../../src/demo/demo-file.ts';
import type { Clock } from '../../../src/shared/clock.ts';
import { picture } from '../../support/images.ts';
import { type Samples, samplesOf } from '../../support/samples.ts';
import { Contract } from './contract.ts';

/** A request as it is sent. */
export interface Sent {
  method: string;
  url: string;
  headers: Record<string, string | string[]>;
  body?: Buffer;
}

/** The callers and records that requests are generated from. */
export interface World {
  contract: Contract;
  schema: GraphQLSchema;
  /** Ids of the first builder of the usual client. */
  samples: Samples;
  /** Access tokens. The first one has access to the samples. */
  tokens: { usual: string; narrow: string; stranger: string; internal: string; expired: string };
  /** A confidential client, and a public one. */
  client: { clientId: string; clientSecret: string };
  publicClient: { clientId: string; redirectUri: string };
  baseUrl: string;
  /** Path and query of signed URLs. */
  signed: { upload: string; download: string };
  picture: Buffer;
}

interface Place {
  /** Origin of the service. */
  origin: string;
  databases: Databases;
  demo: DemoFile;
  tokenKey: string;
  clock: Clock;
}

const TWO_HOURS = 7_200_000;

/** The world of a running service with the demo data. */
export async function worldOf({ origin, databases, demo, tokenKey: key, clock }: Place): Promise<World> {
  const { baseUrl } = demo;
  const clientOf = (name: string) => demo.clients.find((client) => client.name === name)!;
  const sign = async (name: string, scopes: (own: string[]) => string[] = (own) => own, at = clock) => {
    const { clientId, scopes: own } = clientOf(name);
    const tokens = new AccessTokens({ keys: [key], issuer: baseUrl, clock: at });
    return (await tokens.sign({ sub: clientId, client_id: clientId, scope: scopes(own).join(' ') })).token;
  };
  const { clientId, clientSecret, builderIds } = clientOf('A');
  const publicClient = clientOf('A public');
  const world = {
    contract: new Contract(await (await fetch(`${origin}/openapi.json`)).json()),
    schema: buildServiceSchema(),
    samples: await samplesOf(databases.au1, builderIds[0]!, { tokenKey: key }),
    tokens: {
      usual: await sign('A'),
      narrow: await sign('A', (own) => own.slice(0, 2)),
      stranger: await sign('B'),
      internal: await sign('internal'),
      expired: await sign('A', undefined, { now: () => clock.now() - TWO_HOURS }),
    },
    client: { clientId, clientSecret: clientSecret! },
    publicClient: { clientId: publicClient.clientId, redirectUri: publicClient.redirectUris[0]! },
    baseUrl,
    picture: await picture(),
  };
  return { ...world, signed: await signedUrls(origin, world) };
}

/** An announced upload, and a stored one. Their URLs are valid for 15 minutes. */
export async function signedUrls(
  origin: string,
  { samples, tokens, picture: bytes }: Pick<World, 'samples' | 'tokens' | 'picture'>,
): Promise<World['signed']> {
  const attachments = `${origin}/builders/${samples.BuilderId}/attachments`;
  const headers = { Authorization: `Bearer ${tokens.usual}` };
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
