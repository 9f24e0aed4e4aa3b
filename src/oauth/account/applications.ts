import type { FastifyReply } from 'fastify';
import { revokeConsent } from '../../domain/access/consents.ts';
import { incompleteForm } from '../interaction/page-error.ts';
import type { AccountRequest } from './account-request.ts';
import { findAuthorizedApplications } from './authorized-applications.ts';
import { createApplicationsPage } from './pages/applications.page.ts';

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
