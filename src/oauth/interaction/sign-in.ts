import type { FastifyReply } from 'fastify';
import { rememberBrowser } from './known-browser.ts';
import type { PageRequest } from './page-request.ts';
import { deleteSession } from './sessions.ts';
import { verifySignIn } from './verify-sign-in.ts';

/** Handles the sign-in form: creates a session in every region whose account has this password. OAU-25, OAU-27. */
export async function signIn(page: PageRequest): Promise<FastifyReply> {
  const fields = page.verifiedFields();
  const email = fields.get('email') ?? '';
  const { request } = page;
  const region = page.databases.map((database) => database.region).join(' ');
  const result = await verifySignIn(page, email, fields.get('password') ?? '');
  switch (result.kind) {
    case 'throttled': {
      const { seconds } = result;
      request.log.warn({ region, address: request.ip }, 'sign-in throttled');
      page.reply.header('Retry-After', String(seconds));
      return page.showSignIn({ email, problem: result }, 429);
    }
    case 'rejected':
      request.log.warn({ region, address: request.ip }, 'sign-in failed');
      return page.showSignIn({ email, problem: result }, 400);
    case 'verified':
      for (const { database, account } of result.accounts) {
        rememberBrowser(page.cookies, page.accountKind, database.region, account);
        await page.startSession(database, account);
        request.log.info({ region: database.region, userId: account.id }, 'signed in');
      }
      return page.resume();
  }
}

/** Handles the sign-out form: deletes the browser's session in every region. */
export async function signOut(page: PageRequest): Promise<FastifyReply> {
  page.verifiedFields();
  for (const database of page.databases) {
    const browserId = page.browserIdIn(database);
    if (browserId === null) continue;
    await deleteSession(database, browserId);
    page.renewBrowserIdIn(database);
  }
  return page.redirect(page.signedOutUrl);
}
