import type { FastifyReply } from 'fastify';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import { selectObjects } from '../../database/read/select-objects.ts';
import { revokeConsent } from '../../domain/access/consents.ts';
import { incompleteForm } from '../interaction/page-error.ts';
import type { AccountRequest } from './account-request.ts';
import { type AuthorizedApplication, createApplicationsPage } from './pages/applications.page.ts';

const AUTHORIZATIONS = statement('oauth.authorizations')`
  select json_build_object('clientId', client.id, 'clientName', client.name, 'vendor', integrator.name,
    'builderId', builder.id, 'builderName', builder.name, 'scopes', array_agg(distinct scope),
    'since', to_char(min(family.created_at), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'lastUsed', to_char(max(greatest(code.used_at, (select max(token.created_at) from oauth_refresh_token token
      where token.family_id = family.id))), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from oauth_token_family family
    join oauth_authorization_code code on code.family_id = family.id and code.used_at is not null
    join oauth_client client on client.id = family.client_id
    left join integrator on integrator.id = client.integrator_id
    join builder on builder.id = family.builder_id
    cross join unnest(family.scopes) scope
  where family.user_id = $1 and family.revoked_at is null and family.expires_at > $2
  group by client.id, integrator.id, builder.id
  order by builder.name, builder.id, client.name, client.id`;

/** Returns the applications that have a current authorisation of the user, by builder and name. OAU-46. */
const findAuthorizedApplications = (
  database: Database,
  userId: string,
  now: number,
): Promise<AuthorizedApplication[]> => selectObjects(database, AUTHORIZATIONS, [userId, new Date(now).toISOString()]);

/** Shows the applications that the user has authorised in all regions; without a session the sign-in page. */
export async function showApplications(page: AccountRequest, revoked: string | null = null): Promise<FastifyReply> {
  const users = await page.findUsers();
  if (users.length === 0) return page.showSignIn();
  const lists = await Promise.all(
    users.map(async ({ database, user }) => {
      const applications = await findAuthorizedApplications(database, user.id, page.now);
      return applications.map((application) => ({ ...application, regionId: database.region }));
    }),
  );
  return page.show(
    createApplicationsPage(page.formContext(), { user: users[0]!.user, applications: lists.flat(), revoked }),
  );
}

/**
 * Revokes an application's access for one builder. The user is that of the session, so that a form can name no other. Tokens end at once
 * on this instance and within a second on the others (ACC-5).
 */
export async function revokeApplication(page: AccountRequest): Promise<FastifyReply> {
  const fields = page.verifiedFields();
  const [region, clientId, builderId] = ['region', 'client_id', 'builder_id'].map((name) => fields.get(name));
  const users = await page.findUsers();
  if (users.length === 0) return page.resume();
  const regional = users.find(({ database }) => database.region === region);
  if (!regional || !clientId || !builderId) throw incompleteForm();
  const { database, user } = regional;
  const applications = await findAuthorizedApplications(database, user.id, page.now);
  const name = applications.find((each) => each.clientId === clientId && each.builderId === builderId)?.clientName;
  const { dependencies, request } = page;
  const context = page.createChangeContext(database, user.id);
  const families = await revokeConsent(context, { userId: user.id, clientId, builderId }, 'revoked by the user');
  for (const id of families) dependencies.tokenVerifier.evict(id);
  if (families.length > 0) request.log.info({ region, userId: user.id, clientId, builderId }, 'access revoked');
  return showApplications(page, name ?? null);
}
