import type { FastifyReply } from 'fastify';
import { isLoopback } from '../../config.ts';
import {
  type BuilderMembership,
  findBuilderMembership,
  findBuilderMemberships,
  isConnected,
  requireConnectedMembership,
} from '../builder-memberships.ts';
import { requireConnectionScopes } from '../checks/scope.check.ts';
import { accessDenied, invalidScope } from '../errors.ts';
import { issueAuthorizationCode } from '../tokens/authorization-codes.ts';
import type { AuthorizationInteraction } from './authorization-interaction.ts';
import { incompleteForm } from './page-error.ts';
import { createConsentPage } from './pages/consent.page.ts';
import { type BuilderChoice, createSelectBuilderPage, isSelectable } from './pages/select-builder.page.ts';
import type { SignedInUser } from './sessions.ts';

/**
 * Handles `GET /oauth/authorize`: shows the sign-in page, the builder selection or the consent page, whichever is needed
 * next. RFC 6749 section 4.1.1. Every authorization request needs a new consent. OAU-22 to OAU-24.
 */
export async function showPrompt(interaction: AuthorizationInteraction): Promise<FastifyReply> {
  const user = await interaction.findUser();
  if (!user) return interaction.showSignIn();
  const choices = await findChoices(interaction, user);
  const { builderId, scopes } = interaction.authorization;
  const preselected = choices.find((one) => one.builderId === builderId);
  if (builderId !== null && !preselected && !interaction.isBuilderChosen)
    throw accessDenied('The user is not a member of the builder.');
  const onlyChoice = choices.length === 1 ? choices[0]! : null;
  // With no other builder to select, the error is sent to the client at once.
  if (onlyChoice && isConnected(onlyChoice)) requireConnectionScopes(scopes, onlyChoice);
  const choice = onlyChoice ?? preselected;
  if (!choice || !isSelectable(choice, scopes)) {
    const selection = { user, choices, scopes, isPreselectionInvalid: builderId !== null };
    return interaction.show(createSelectBuilderPage(interaction.formContext(), selection));
  }
  const { client, redirectUri, resource } = interaction.authorization;
  const page = createConsentPage(interaction.formContext(), {
    user,
    choice,
    scopes,
    isAssistant: resource !== null,
    vendor: client.integratorName,
    destination: describeRedirectUri(redirectUri),
    canRefresh: client.grants.includes('refresh_token'),
    hasOtherBuilders: choices.length > 1,
  });
  return interaction.show(page);
}

/** Handles `POST /oauth/authorize`: the forms of the builder selection and of the consent page. */
export async function submitPrompt(interaction: AuthorizationInteraction): Promise<FastifyReply> {
  const fields = interaction.verifiedFields();
  const action = fields.get('action');
  if (action === 'deny') {
    logDecision(interaction, 'access denied', {});
    throw accessDenied('The user did not allow it.');
  }
  if (action === 'other') return interaction.resumeWithBuilder(null);
  const user = await interaction.findUser();
  if (!user) return interaction.resume();
  if (action === 'leave') throw noSelectableBuilder(await findChoices(interaction, user));
  const builderId = fields.get('builder_id');
  if (!builderId || (action !== 'choose' && action !== 'allow')) throw incompleteForm();
  return action === 'choose' ? interaction.resumeWithBuilder(builderId) : grantConsent(interaction, user, builderId);
}

async function grantConsent(
  interaction: AuthorizationInteraction,
  user: SignedInUser,
  builderId: string,
): Promise<FastifyReply> {
  const { client, scopes, resource, redirectUri, codeChallenge, codeChallengeMethod } = interaction.authorization;
  const found = await findBuilderMembership(client, { userId: user.id, builderId });
  requireConnectionScopes(scopes, requireConnectedMembership(found, accessDenied));
  const consent = { clientId: client.id, userId: user.id, builderId, scopes, resource };
  const binding = { redirectUri, codeChallenge, codeChallengeMethod };
  const context = interaction.createChangeContext(interaction.database, user.id);
  const code = await issueAuthorizationCode(context, consent, binding);
  logDecision(interaction, 'access allowed', { userId: user.id, builderId, scopes });
  return interaction.redirectToClient(code);
}

async function findChoices(interaction: AuthorizationInteraction, user: SignedInUser): Promise<BuilderChoice[]> {
  const { database, authorization, dependencies } = interaction;
  const memberships = await findBuilderMemberships(authorization.client, user.id);
  return memberships.map((membership) => ({
    ...membership,
    logoUrl: membership.logoKey === null ? null : dependencies.createLogoUrl(database.region, membership.logoKey),
  }));
}

/** `invalid_scope` when a connected builder allows too few scopes, `access_denied` when no builder is connected. */
const noSelectableBuilder = (memberships: BuilderMembership[]) =>
  memberships.some(isConnected)
    ? invalidScope("No connection of the user's builders allows all that is asked.")
    : accessDenied('The user has no builder that is connected.');

/** Returns the destination of a redirect URI for the consent page, such as `app.example` or `the app on this device`. */
function describeRedirectUri(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return 'the app on this device';
  return isLoopback(hostname) ? 'the app on this computer' : host;
}

const logDecision = (
  { request, database, authorization }: AuthorizationInteraction,
  message: string,
  properties: object,
) => request.log.info({ region: database.region, clientId: authorization.client.id, ...properties }, message);
