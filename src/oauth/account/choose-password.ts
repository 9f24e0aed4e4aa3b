import type { FastifyReply } from 'fastify';
import { findLinkedUser, usePasswordLink } from '../../domain/access/password-links.ts';
import { findPasswordProblem } from '../../domain/access/password-rules.ts';
import { hashPassword } from '../../domain/access/passwords.ts';
import { createAccountChangeMessage } from '../../mail/messages.ts';
import { REGIONS } from '../../shared/regions.ts';
import { PageError } from '../interaction/page-error.ts';
import type { AccountRequest } from './account-request.ts';
import { createChoosePasswordPage } from './pages/password.page.ts';

/** 404, the same for a link that is unknown, expired or used. */
const unusableLink = () =>
  new PageError(
    404,
    'This link does not work',
    'It works once and for 24 hours, and a newer password ends it. Ask for a new link.',
    false,
  );

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Shows the form for choosing a password. Opening the link does not use it up, because mail programs open links too. OAU-43. */
export async function showPasswordForm(page: AccountRequest): Promise<FastifyReply> {
  const { user, query } = await requireLink(page);
  return page.show(createChoosePasswordPage(page.formContext(query), user, null));
}

/** Sets the password, and ends all sessions and links of the user. OAU-44. */
export async function choosePassword(page: AccountRequest): Promise<FastifyReply> {
  const fields = page.verifiedFields();
  const { database, token, user, query } = await requireLink(page);
  const password = fields.get('password') ?? '';
  const broken = await findPasswordProblem(password, user);
  const mismatch = password === fields.get('repeated') ? null : 'The two passwords are not the same.';
  const problem = broken === null ? mismatch : `The password ${broken}.`;
  if (problem !== null) return page.show(createChoosePasswordPage(page.formContext(query), user, problem), 400);
  const { request, dependencies } = page;
  const passwordHash = await page.runPasswordHash(() => hashPassword(password));
  if (!(await usePasswordLink(page.createChangeContext(database, null), token, passwordHash))) throw unusableLink();
  dependencies.passwordResets?.notify(createAccountChangeMessage(user, 'password'));
  request.log.info({ region: database.region, userId: user.id }, 'password set');
  return page.redirect('/account/password-saved');
}

/** Returns the user of the link in the query; throws a 404 page for one that cannot be used. */
async function requireLink(page: AccountRequest) {
  const { region, token } = page.request.query as { region?: unknown; token?: unknown };
  const found = REGIONS.find((each) => each === region);
  if (!found || typeof token !== 'string' || !TOKEN.test(token)) throw unusableLink();
  const database = page.dependencies.databases[found];
  const user = await findLinkedUser({ database, clock: page.dependencies.clock }, token);
  if (!user) throw unusableLink();
  return { database, token, user, query: new URLSearchParams({ region: found, token }).toString() };
}
