import type { FastifyReply } from 'fastify';
import { isLoopback } from '../../config.ts';
import { isConnected, requireChoice } from '../checks/builder-choice.ts';
import { requireConnectionScopes } from '../checks/connection-scope.ts';
import { accessDenied, invalidScope } from '../errors.ts';
import { issueCode } from '../tokens/authorization-codes.ts';
import type { Step } from './authorization-interaction.ts';
import { type BuilderChoice, findChoices, type ShownChoice } from './builder-choices.ts';
import { incompleteForm } from './page-error.ts';
import { consentPage } from './pages/consent.ts';
import { isChoosable, selectBuilderPage } from './pages/select-builder.ts';
import type { SignedInUser } from './sessions.ts';

/**
 * `GET /oauth/authorize`: asks what is still to be asked, in this order: who it is, for which builder, and whether they
 * allow it. RFC 6749 section 4.1.1, OAU-22 to OAU-24. Consent is asked for each time.
 */
export async function askUser(step: Step): Promise<FastifyReply> {
  const user = await step.signedIn();
  if (!user) return step.showSignIn({ email: '', problem: null });
  const choices = await choicesOf(step, user);
  const { builderId, scopes } = step.request;
  const only = choices.length === 1 && (builderId === null || builderId === choices[0]!.id) ? choices[0]! : null;
  // The user has no other to choose, so the application is told at once.
  if (only && isConnected(only)) requireConnectionScopes(scopes, only);
  const choice = only ?? choices.find(({ id }) => id === builderId);
  if (!choice || !isChoosable(choice, scopes)) {
    const preselectionFailed = builderId !== null;
    return step.show((context) => selectBuilderPage(context, { user, choices, scopes, preselectionFailed }));
  }
  return step.show((context) => consentPage(context, consentQuestion(step, user, choice, choices.length > 1)));
}

/** `POST /oauth/authorize`: what the user decided. */
export async function decide(step: Step): Promise<FastifyReply> {
  const fields = step.readForm();
  const action = fields.get('action');
  if (action === 'deny') {
    log(step, 'access denied', {});
    throw accessDenied('The user did not allow it.');
  }
  if (action === 'other') return step.goOn(null);
  const user = await step.signedIn();
  if (!user) return step.goOn();
  if (action === 'leave') throw whyNothing(await choicesOf(step, user));
  const builderId = fields.get('builder_id');
  if (!builderId || (action !== 'choose' && action !== 'allow')) throw incompleteForm();
  return action === 'choose' ? step.goOn(builderId) : allow(step, user, builderId);
}

async function allow(step: Step, user: SignedInUser, builderId: string): Promise<FastifyReply> {
  const { client, scopes, redirectUri, codeChallenge, codeChallengeMethod } = step.request;
  const [found] = await choicesOf(step, user, builderId);
  const choice = requireChoice(found, accessDenied);
  requireConnectionScopes(scopes, choice);
  const binding = { redirectUri, codeChallenge, codeChallengeMethod };
  const consent = { clientId: client.id, userId: user.id, builderId: choice.id, scopes, ...binding };
  const code = await issueCode(step.database, consent, step.now);
  log(step, 'access allowed', { userId: user.id, builderId: choice.id, scopes });
  return step.sendCode(code);
}

async function choicesOf(step: Step, user: SignedInUser, builderId?: string): Promise<ShownChoice[]> {
  const { database, request, parts } = step;
  const choices = await findChoices(database, {
    userId: user.id,
    integratorId: request.client.integratorId,
    builderId,
  });
  return choices.map((choice) => ({
    ...choice,
    logoUrl: choice.logoKey === null ? null : parts.logoUrl(database.region, choice.logoKey),
  }));
}

/** `invalid_scope` where a connection allows less than is asked, `access_denied` where there is none. */
const whyNothing = (choices: BuilderChoice[]) =>
  choices.some(isConnected)
    ? invalidScope("No connection of the user's builders allows all that is asked.")
    : accessDenied('The user has no builder that is connected.');

function consentQuestion({ request }: Step, user: SignedInUser, choice: ShownChoice, hasOthers: boolean) {
  const { client, scopes, redirectUri } = request;
  return {
    ...{ user, choice, scopes, hasOthers },
    vendor: client.integratorName,
    destination: destinationOf(redirectUri),
    refreshes: client.grants.includes('refresh_token'),
  };
}

/** Where a redirect URI leads, as people would say it. */
export function destinationOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return 'the app on this device';
  return isLoopback(hostname) ? 'the app on this computer' : host;
}

const log = ({ http, database, request }: Step, message: string, facts: object) =>
  http.log.info({ region: database.region, clientId: request.client.id, ...facts }, message);
