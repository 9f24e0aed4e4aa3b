import type { FastifyReply } from 'fastify';
import { signInPage } from './pages/sign-in.ts';
import { verifyPassword } from './passwords.ts';
import { closeSession, findAccount, openSession } from './sessions.ts';
import { beginAttempt, forgiveAttempt } from './sign-in-throttle.ts';
import type { Step } from './step.ts';

/** Longer than any password that can be set; hashing takes time with the length. */
const LONGEST_PASSWORD = 1000;

/**
 * `POST /oauth/sign-in`. An unknown user, one without a password, a disabled one and a wrong password take the same work, one
 * hash, and get the same answer. Part 11 of the decisions.
 */
export async function signIn(step: Step): Promise<FastifyReply> {
  const fields = step.readForm();
  const typed = fields.get('email') ?? '';
  const email = typed.trim().toLowerCase();
  const password = fields.get('password') ?? '';
  const { database, http, now } = step;
  const attempt = { address: http.ip, email };

  const seconds = await beginAttempt(database, attempt, now);
  if (seconds > 0) {
    http.log.warn({ region: database.region, address: http.ip }, 'sign-in slowed down');
    step.reply.header('Retry-After', String(seconds));
    return step.show((context) => signInPage(context, { email: typed, problem: { kind: 'wait', seconds } }), 429);
  }

  const account = await findAccount(database, email);
  const fits = password.length <= LONGEST_PASSWORD;
  const holds = await verifyPassword(fits ? password : '', account?.passwordHash ?? null);
  if (!account || !holds || !fits) {
    http.log.warn({ region: database.region, address: http.ip }, 'sign-in failed');
    return step.show((context) => signInPage(context, { email: typed, problem: { kind: 'wrong' } }), 400);
  }

  await forgiveAttempt(database, attempt, now);
  if (step.browserId !== null) await closeSession(database, step.browserId);
  // A new identifier: one that somebody planted before does not become a signed-in one.
  await openSession(database, step.renewBrowser(), account, now);
  http.log.info({ region: database.region, userId: account.id }, 'signed in');
  return step.goOn();
}

/** `POST /oauth/sign-out`. */
export async function signOut(step: Step): Promise<FastifyReply> {
  step.readForm();
  if (step.browserId !== null) await closeSession(step.database, step.browserId);
  step.renewBrowser();
  return step.goOn('/oauth/signed-out');
}
