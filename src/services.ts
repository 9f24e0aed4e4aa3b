import type { FastifyInstance } from 'fastify';
import { AccessTokenVerifier } from './auth/access-token-verifier.ts';
import { AccessTokens } from './auth/access-tokens.ts';
import { RateLimiter } from './auth/rate-limiter.ts';
import { RequestAuthenticator } from './auth/request-authenticator.ts';
import type { Config } from './config.ts';
import type { PasswordLinkSender } from './console/server/console-area.ts';
import type { Databases } from './database/database.ts';
import { LINK_HOURS } from './domain/access/password-links.ts';
import { EventTail } from './domain/events/event-tail.ts';
import { RequestLog } from './domain/request-log/request-log.ts';
import { createWebhookTools } from './domain/webhooks/webhook-context.ts';
import { LargeBodyParser } from './http/bodies/large-body-parser.ts';
import { BODY_LIMIT } from './http/options.ts';
import { splitConnections } from './limits/connection-split.ts';
import { createFairShares } from './limits/fair-shares.ts';
import { MailQueue } from './mail/mail-queue.ts';
import { createMailer, describeMailError, type Mailer } from './mail/mailer.ts';
import { createPasswordLinkMessage } from './mail/messages.ts';
import type { Network } from './network/guarded-network.ts';
import { PasswordResets } from './oauth/account/password-resets.ts';
import { createOAuthRateLimits, PASSWORD_RESET_LIMIT } from './oauth/rate-limits.ts';
import { RegisteredOrigins } from './oauth/registered-origins.ts';
import type { Clock } from './shared/clock.ts';
import type { RegionId } from './shared/regions.ts';
import { openStorages } from './storage/storage.ts';

/** Dependencies of the service, which tests replace. */
export interface ServiceDependencies {
  databases: Databases;
  clock: Clock;
  /** Keys of access tokens and signed URLs, base64url. The first signs, all verify. */
  tokenKeys: readonly string[];
  /** Network access for downloads of images; the internet by default. */
  outside?: Network;
  /** Network access for deliveries to webhook endpoints; the internet by default. */
  receivers?: Network;
  /** Whether the instance is shutting down: it then reports that it is not ready. */
  isStopping?: () => boolean;
}

/** Creates what the plugins of the application share, each of which declares what it needs of it. It ends when the application closes. */
export async function createServices(app: FastifyInstance, config: Config, dependencies: ServiceDependencies) {
  const { databases, clock, tokenKeys, isStopping = () => false } = dependencies;
  const { baseUrl, rateLimits, uploadQuota } = config;
  const accessTokens = new AccessTokens({ keys: tokenKeys, issuer: baseUrl, clock });
  const verification = { tokens: accessTokens, databases, clock };
  const tokenVerifier = new AccessTokenVerifier(verification);
  const toolTokenVerifier = new AccessTokenVerifier({ ...verification, audience: accessTokens.audiences[1] });
  const storages = openStorages(config, { secrets: tokenKeys, clock, network: dependencies.outside });
  const limits = new RateLimiter('api', rateLimits.api, clock);
  const tokenLimits = new RateLimiter('token', rateLimits.token, clock);
  const budgets = { sync: new RateLimiter('sync', rateLimits.sync, clock) };
  const shares = createFairShares(config.workers, splitConnections(config.databaseConnections));
  const webhooks = createWebhookTools(config, tokenKeys, dependencies.receivers);
  const eventTail = new EventTail(databases, isStopping);
  const authentication = { databases, storages, limits, budgets, shares, uploadQuota, eventTail, clock, webhooks };
  const largeBodies = new LargeBodyParser(BODY_LIMIT);
  app.addHook('preClose', async () => eventTail.close());
  app.addHook('onClose', async () => webhooks.receivers.close());
  app.addHook('onClose', () => largeBodies.close());
  const mailer = config.mail && (await createMailer(config.mail));
  const passwordResets = openPasswordResets(app, mailer, config, dependencies);
  return {
    config,
    baseUrl,
    databases,
    clock,
    isStopping,
    storages,
    shares,
    limits,
    rateLimiters: [limits, tokenLimits, budgets.sync],
    largeBodies,
    accessTokens,
    tokenVerifier: {
      isLive: tokenVerifier.isLive.bind(tokenVerifier),
      evict(id: string) {
        for (const verifier of [tokenVerifier, toolTokenVerifier]) verifier.evict(id);
      },
    },
    authenticator: new RequestAuthenticator({ ...authentication, tokens: tokenVerifier }),
    toolAuthenticator: new RequestAuthenticator({ ...authentication, tokens: toolTokenVerifier }),
    origins: new RegisteredOrigins({ databases, clock }),
    requestLog: new RequestLog(databases, clock, (err) => app.log.error({ err }, 'usage was not written')),
    createLogoUrl: (region: RegionId, key: string) => storages[region].createDownloadUrl(key),
    passwordResets,
    passwordLinks: createPasswordLinkSender(mailer, passwordResets, config, app),
    ...createOAuthRateLimits(databases, {
      api: limits,
      token: tokenLimits,
      passwordReset: new RateLimiter('password-reset', PASSWORD_RESET_LIMIT, clock),
    }),
  };
}

/** Returns what sends links for choosing a password, until the application closes; undefined without a mail server. */
function openPasswordResets(
  app: FastifyInstance,
  mailer: Mailer | null,
  { baseUrl }: Config,
  { databases, clock }: Pick<ServiceDependencies, 'databases' | 'clock'>,
) {
  if (mailer === null) return;
  const queue = new MailQueue((error) => app.log.error({ failure: describeMailError(error) }, 'e-mail was not sent'));
  app.addHook('onClose', async () => {
    const abandoned = await queue.close();
    if (abandoned > 0) app.log.warn({ abandoned }, 'e-mail was abandoned');
    mailer.close();
  });
  return new PasswordResets({ databases, clock, baseUrl, mailer, queue });
}

/** Returns what sends the links that staff users create in the console. */
const createPasswordLinkSender = (
  mailer: Mailer | null,
  passwordResets: PasswordResets | undefined,
  { baseUrl }: Config,
  { log }: FastifyInstance,
): PasswordLinkSender => ({
  emails: mailer !== null,
  toUrl: (path) => `${baseUrl}${path}`,
  notify: (message) => passwordResets?.notify(message),
  async send({ path, ...person }) {
    try {
      await mailer?.send(createPasswordLinkMessage({ ...person, link: `${baseUrl}${path}`, hours: LINK_HOURS }));
      return mailer !== null;
    } catch (error) {
      log.error({ failure: describeMailError(error) }, 'e-mail was not sent');
      return false;
    }
  },
});
