import { createHash } from 'node:crypto';
import pg from 'pg';
import { SCOPES } from '../../../schema/scopes.ts';
import { AccessTokens } from '../../../src/auth/access-tokens.ts';
import { createIntegratorId } from '../../../src/demo/accounts.ts';
import { hashPassword } from '../../../src/domain/access/passwords.ts';
import { encodeEventCursor } from '../../../src/domain/events/event-cursor.ts';
import { readHead } from '../../../src/domain/events/event-log.ts';
import { hashSecret, newSecret } from '../../../src/shared/secrets.ts';
import { BASE_URL, type ProofEnvironment } from '../proof-environment.ts';
import { type DataVolume, insertBulkData } from './bulk-data.ts';

/** Clients of each attacking integrator, because rate limits apply per client. */
const CLIENTS = 6;

export interface ClientAccount {
  clientId: string;
  clientSecret: string;
  /** An access token with all v1 scopes. */
  token: string;
  /** The same for the tools. */
  toolToken: string;
}

/** An integrator with a builder that it is connected to. */
interface IntegratorAccount {
  builderId: string;
  projectIds: string[];
  workerIds: string[];
  subcontractorIds: string[];
  clients: ClientAccount[];
}

export interface Attacker extends IntegratorAccount {
  /** A token of the first client with `read:builders` alone. */
  narrowToken: string;
  /** Holds 25 meetings with notes of 1 MB. */
  largeProjectId: string;
  /** A meeting with notes of 900 KB. */
  notesMeetingId: string;
  /** Holds 25 meetings whose notes take six bytes per character as JSON. */
  escapedProjectId: string;
  /** A user of the builder, and the cookie of an active session. */
  user: { email: string; password: string; cookie: string };
}

export interface VictimAccount extends IntegratorAccount {
  publicClientId: string;
  redirectUri: string;
  userId: string;
}

/** The accounts of the attackers and the victim. The value is serializable, to be sent to another process. */
export interface Scenario {
  victim: VictimAccount;
  /** The first has the large data; the second is connected to the victim's own builder. */
  attackers: Attacker[];
  /** Timesheets of the first attacker's builder. */
  timesheets: number;
  /** Position in the event log before the large data. */
  eventCursor: string;
}

/** Inserts the accounts and records of the attacks into the database. */
export async function prepareScenario(
  environment: ProofEnvironment,
  url: string,
  volume: DataVolume,
): Promise<Scenario> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const sign = tokenSigner(environment);
    const attackers: Attacker[] = [];
    for (const name of ['B', 'C']) attackers.push(await prepareAttacker(client, environment, name, sign));
    const head = await readHead(environment.database());
    await insertBulkData(client, attackers, volume);
    const demo = environment.demo.clients.find((one) => one.name === 'A')!;
    const publicClient = environment.demo.clients.find((one) => one.name === 'A public')!;
    const user = environment.demo.users.find(({ builderIds }) => builderIds.includes(demo.builderIds[0]!))!;
    const { clientId, clientSecret } = demo;
    const token = await sign(clientId, SCOPES);
    const victim = {
      ...(await prepareRecords(client, demo.builderIds[0]!, 'victim')),
      clients: [{ clientId, clientSecret: clientSecret!, token, toolToken: await sign(clientId, SCOPES, TOOLS) }],
      ...{ publicClientId: publicClient.clientId, redirectUri: publicClient.redirectUris[0]!, userId: user.id },
    };
    await client.query('vacuum analyze');
    return { victim, attackers, timesheets: volume.timesheets, eventCursor: encodeEventCursor('au1', head, head) };
  } finally {
    await client.end();
  }
}

type Sign = (clientId: string, scopes: readonly string[], audience?: string) => Promise<string>;

/** Audience of access tokens for the tools. */
const TOOLS = `${BASE_URL}/mcp`;

function tokenSigner(environment: ProofEnvironment): Sign {
  const tokens = new AccessTokens({ keys: [environment.settings.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
  return async (clientId, scopes, aud) =>
    tokens.sign('au1', { sub: clientId, client_id: clientId, scope: scopes.join(' '), aud }).token;
}

async function prepareAttacker(
  client: pg.Client,
  environment: ProofEnvironment,
  name: string,
  sign: Sign,
): Promise<Attacker> {
  const demo = environment.demo.clients.find((one) => one.name === name)!;
  const builderId = demo.builderIds[0]!;
  const clients: ClientAccount[] = [];
  for (let number = 0; number < CLIENTS; number++) {
    const clientId = `cli_attack${name.toLowerCase()}${number}`;
    const clientSecret = newSecret();
    await client.query(
      `insert into oauth_client (id, created_at, updated_at, integrator_id, name, type, grants, scopes, pilot_agreement)
        values ($1, now(), now(), $2, $1, 'CONFIDENTIAL', '{client_credentials}', $3, 'PROOF')`,
      [clientId, createIntegratorId(name), SCOPES],
    );
    await client.query('insert into oauth_client_secret (client_id, digest, created_at) values ($1, $2, now())', [
      clientId,
      hashSecret(clientSecret),
    ]);
    const [token, toolToken] = [await sign(clientId, SCOPES), await sign(clientId, SCOPES, TOOLS)];
    clients.push({ clientId, clientSecret, token, toolToken });
  }
  const records = await prepareRecords(client, builderId, `attacker${name}`);
  const [largeProjectId, notesProjectId, escapedProjectId] = records.projectIds as [string, string, string];
  return {
    ...records,
    ...{ clients, largeProjectId, escapedProjectId, notesMeetingId: `meet_notes${notesProjectId.slice(5)}` },
    narrowToken: await sign(clients[0]!.clientId, ['read:builders']),
    user: await createUser(client, builderId, name),
  };
}

/** Adds 20 workers with access to the first project. Returns their ids and those of the builder's records. */
async function prepareRecords(client: pg.Client, builderId: string, name: string) {
  const prefix = `wkr_${name.toLowerCase()}`;
  const { rows: projects } = await client.query('select id from project where builder_id = $1 order by id', [
    builderId,
  ]);
  const projectIds = projects.map(({ id }) => id as string);
  await client.query(
    `insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
      select $1 || n, now(), now(), s.builder_id, s.id, 'Worker ' || n
      from generate_series(1, 20) n, (select id, builder_id from subcontractor where builder_id = $2 limit 1) s`,
    [prefix, builderId],
  );
  await client.query(
    `insert into site_access (builder_id, worker_id, project_id, granted_at)
      select builder_id, id, $1, now() from worker where id like $2`,
    [projectIds[0], `${prefix}%`],
  );
  const { rows: subcontractors } = await client.query(
    'select id from subcontractor where builder_id = $1 and not is_builder and archived_at is null order by id limit 10',
    [builderId],
  );
  const workerIds = Array.from({ length: 20 }, (_, at) => `${prefix}${at + 1}`);
  return { builderId, projectIds, workerIds, subcontractorIds: subcontractors.map(({ id }) => id as string) };
}

async function createUser(client: pg.Client, builderId: string, name: string) {
  const id = `user_attack${name.toLowerCase()}`;
  const email = `${name.toLowerCase()}@attack.example`;
  const [password, browserId] = [newSecret(), newSecret()];
  const passwordHash = await hashPassword(password);
  await client.query(
    `insert into app_user (id, created_at, updated_at, name, email, password_hash) values ($1, now(), now(), $1, $2, $3)`,
    [id, email, passwordHash],
  );
  await client.query(
    `insert into membership (created_at, updated_at, user_id, builder_id, role) values (now(), now(), $1, $2, 'ADMIN')`,
    [id, builderId],
  );
  await client.query(
    `insert into oauth_session (digest, user_id, credential_digest, created_at, expires_at)
      values ($1, $2, $3, now(), now() + interval '2 hours')`,
    [hashSecret(browserId), id, hashSecret(passwordHash)],
  );
  return { email, password, cookie: `session-au1=${browserId}` };
}

/** Inserts authorization codes of the victim's public client, as after a user's consent. Returns them with their verifiers. */
export async function issueCodes(
  url: string,
  victim: VictimAccount,
  count: number,
): Promise<{ code: string; verifier: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const codes = Array.from({ length: count }, () => ({ code: newSecret(), verifier: newSecret() }));
    await client.query(
      `with given as (select * from unnest($1::text[], $2::text[]) as given (digest, challenge)),
        families as (
          insert into oauth_token_family (id, client_id, user_id, builder_id, scopes, created_at, expires_at)
          select digest, $3, $4, $5, '{read:builders}', now(), now() + interval '2 hours' from given returning id)
      insert into oauth_authorization_code
          (digest, family_id, redirect_uri, code_challenge, code_challenge_method, created_at, expires_at)
        select given.digest, given.digest, $6, given.challenge, 'S256', now(), now() + interval '2 hours'
        from given join families on families.id = given.digest`,
      [
        ...[codes.map(({ code }) => hashSecret(code)), codes.map(({ verifier }) => toChallenge(verifier))],
        ...[victim.publicClientId, victim.userId, victim.builderId, victim.redirectUri],
      ],
    );
    return codes;
  } finally {
    await client.end();
  }
}

const toChallenge = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
