import type { FastifyReply } from 'fastify';
import type { PageVisit } from './page-request.ts';
import { checkPassword } from './password-check.ts';
import { closeSession, openSession } from './sessions.ts';

/** What a sign-in form leads to. OAU-25, OAU-27. */
export async function signIn(visit: PageVisit): Promise<FastifyReply> {
  const fields = visit.readForm();
  const typed = fields.get('email') ?? '';
  const { databases, http, now } = visit;
  const regions = databases.map(({ region }) => region).join(' ');
  const attempt = { address: http.ip, email: typed.trim().toLowerCase() };
  const outcome = await checkPassword(databases, attempt, fields.get('password') ?? '', now);
  switch (outcome.kind) {
    case 'wait': {
      const { seconds } = outcome;
      http.log.warn({ region: regions, address: http.ip }, 'sign-in slowed down');
      visit.reply.header('Retry-After', String(seconds));
      return visit.showSignIn({ email: typed, problem: { kind: 'wait', seconds } }, 429);
    }
    case 'wrong':
      http.log.warn({ region: regions, address: http.ip }, 'sign-in failed');
      return visit.showSignIn({ email: typed, problem: { kind: 'wrong' } }, 400);
    case 'right':
      for (const { database, account } of outcome.accounts) {
        const before = visit.browserIdIn(database);
        if (before !== null) await closeSession(database, before);
        // A new identifier: one that somebody planted before does not become a signed-in one.
        await openSession(database, visit.renewBrowserIn(database), account, now);
        http.log.info({ region: database.region, userId: account.id }, 'signed in');
      }
      return visit.goOn();
  }
}

/** What a sign-out form leads to. */
export async function signOut(visit: PageVisit): Promise<FastifyReply> {
  visit.readForm();
  for (const database of visit.databases) {
    const browserId = visit.browserIdIn(database);
    if (browserId === null) continue;
    await closeSession(database, browserId);
    visit.renewBrowserIn(database);
  }
  return visit.goOut();
}
