import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { MAX_AGE_MS } from '../../auth/access-token-verifier.ts';
import { Caller } from '../../auth/caller.ts';
import { type AuthenticatedRequest, parseRegion, type RequestAuthenticator } from '../../auth/request-authenticator.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import type { RequestSteps } from '../../auth/request-pipeline.ts';
import type { Config } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import { toApiError } from '../../database/errors.ts';
import { getStaffScopes, requireStaffAction, type StaffAction } from '../../domain/access/staff-roles.ts';
import type { AuditSource } from '../../domain/audit/record-audit.ts';
import { formatError, toGraphqlError } from '../../graphql/server/errors.ts';
import { registerGraphqlRoute } from '../../graphql/server/plugin.ts';
import type { LargeBodyParser } from '../../http/bodies/large-body-parser.ts';
import { rejectOtherMethods } from '../../http/method-not-allowed.ts';
import type { FairShares } from '../../limits/fair-shares.ts';
import { configurePages, registerPages } from '../../oauth/interaction/configure-pages.ts';
import { SecretCookies } from '../../oauth/interaction/secret-cookies.ts';
import { findSessionUser, type StaffUser } from '../../oauth/interaction/sessions.ts';
import { signIn } from '../../oauth/interaction/sign-in.ts';
import type { Clock } from '../../shared/clock.ts';
import { ApiError, forbidden } from '../../shared/errors.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import type { Storages } from '../../storage/storage.ts';
import type { ConsoleContext, PasswordLinkSender } from './console-area.ts';
import { findConsoleFolder, registerConsoleFiles } from './files.ts';
import { PersonalReads, RecordedReads } from './personal-reads.ts';
import { OpenIdProvider } from './session/openid-provider.ts';
import { continueOpenIdSignIn, finishOpenIdSignIn, startOpenIdSignIn } from './session/openid-sign-in.ts';
import { endConsoleSession, SignInRequest } from './session/sign-in-request.ts';
import { rejectWrittenTexts } from './written-texts.ts';

/** Header that requests of the console carry, and that no form of another site can send. CON-3. */
const CSRF_HEADER = 'x-console-csrf';

interface ConsoleDependencies {
  schema: GraphQLSchema;
  authenticator: RequestAuthenticator;
  databases: Databases;
  clock: Clock;
  shares: FairShares;
  baseUrl: string;
  config: Config;
  passwordLinks: PasswordLinkSender;
  largeBodies: LargeBodyParser;
  storages: Storages;
  /** Charges one request to the address's rate limit; throws 429. */
  limitPageRequest: (request: FastifyRequest) => Promise<void>;
}

/** Registers the sign-in page of staff users, `/console/graphql` and the console's files. */
export async function registerConsole(app: FastifyInstance, dependencies: ConsoleDependencies): Promise<void> {
  const { databases, clock, storages, config, limitPageRequest } = dependencies;
  await registerSignIn(app, dependencies);
  await registerConsoleFiles(app, {
    folder: findConsoleFolder(),
    images: REGIONS.map((region) => new URL(storages[region].createDownloadUrl('logos/any')).origin),
    production: config.production,
    limitPageRequest,
  });
  await registerGraphqlRoute(app, {
    url: '/console/graphql',
    methods: ['POST'],
    introspection: true,
    suggestions: true,
    operations: [],
    schema: dependencies.schema,
    largeBodies: dependencies.largeBodies,
    steps: createSteps(dependencies),
    plugins: [
      rejectWrittenTexts(dependencies.schema),
      recordPersonalReads(databases, clock),
      ApolloServerPluginLandingPageDisabled(),
    ],
  });
  // Otherwise the console's files would answer GET.
  rejectOtherMethods(app, ['/console/graphql'], limitPageRequest);
}

async function registerSignIn(app: FastifyInstance, dependencies: ConsoleDependencies): Promise<void> {
  const { openId, allowsPasswords } = dependencies.config.staff;
  const provider = openId && new OpenIdProvider(openId, dependencies.baseUrl);
  await app.register(async (pages) => {
    configurePages(pages, dependencies.limitPageRequest, () => '/console/sign-in');
    registerPages<SignInRequest>(
      pages,
      (handle) => async (request, reply) => handle(new SignInRequest(dependencies, request, reply)),
      {
        '/console/sign-in': { get: (page) => page.showSignIn(), ...(allowsPasswords && { post: signIn }) },
        ...(provider && {
          '/console/sign-in/openid': { get: (page) => startOpenIdSignIn(page, provider) },
          '/console/sign-in/callback': { get: continueOpenIdSignIn },
          '/console/sign-in/finish': { get: (page) => finishOpenIdSignIn(page, provider) },
        }),
      },
    );
  });
}

/** A request of a staff user's session. */
interface StaffRequest extends AuthenticatedRequest {
  staff: StaffUser;
  cookies: SecretCookies;
}

/** Returns the steps of a request of `/console/graphql`, the only route that reads the console's cookie. */
function createSteps(
  dependencies: ConsoleDependencies,
): Pick<RequestSteps<StaffRequest, unknown, unknown>, 'authenticate' | 'createContext'> {
  const { authenticator, databases, clock, baseUrl, config, passwordLinks, limitPageRequest } = dependencies;
  const { allowsPasswords } = config.staff;
  const recordedReads = new RecordedReads();
  /** Returns the staff user of the browser's session. It is read at each request, so that a revocation applies at once. CON-2. */
  const findIn = (region: RegionId, cookies: SecretCookies) =>
    findSessionUser(databases[region], cookies.read('console', region), clock.now(), 'staff', allowsPasswords);
  const requireIn = async (...session: Parameters<typeof findIn>) => {
    const staff = await findIn(...session);
    if (!staff) throw new ApiError('UNAUTHENTICATED', 'Sign in to the console.');
    return staff;
  };

  return {
    async authenticate(request, reply) {
      // Before the session is looked up: a made-up cookie costs a statement too.
      await limitPageRequest(request);
      requireOwnPage(request);
      const region = parseRegion(request);
      const cookies = new SecretCookies(request, reply, baseUrl.startsWith('https:'));
      const staff = await requireIn(region, cookies);
      return { ...(await authenticator.limit(request, reply, region, toCaller(staff))), staff, cookies };
    },
    createContext(request, authenticated): ConsoleContext {
      const { staff, cookies, region, caller } = authenticated;
      const authenticatedAt = clock.now();
      const source: AuditSource = {
        actor: { type: 'STAFF', id: staff.id, role: staff.role },
        origin: { application: 'console', address: request.ip, requestId: request.id },
      };
      const context = authenticator.createContext(request, authenticated);
      return {
        ...context,
        authorize(operation, builderId) {
          requireStaffAction(staff.role, operation.action as StaffAction);
          return context.authorize(operation, builderId);
        },
        async renewCaller() {
          if (clock.now() - authenticatedAt < MAX_AGE_MS) return false;
          Object.assign(caller, toCaller(Object.assign(staff, await requireIn(region, cookies))));
          Object.assign(source.actor, { role: staff.role });
          return true;
        },
        staff,
        source,
        passwordLinks,
        personalReads: new PersonalReads(recordedReads, source),
        session: {
          findRegions: async () => {
            const signedIn = await Promise.all(REGIONS.map((each) => findIn(each, cookies)));
            return REGIONS.filter((_, index) => signedIn[index] !== null);
          },
          end: () => Promise.all(REGIONS.map((each) => endConsoleSession(databases[each], cookies))),
        },
      };
    },
  };
}

/** Throws 403 for a request that a page of another site may have caused. CON-3. */
function requireOwnPage({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const isForeign = site !== undefined && site !== 'same-origin';
  if (isForeign || headers[CSRF_HEADER] === undefined)
    throw forbidden(`Requests of the console come from its own pages, with the header ${CSRF_HEADER}.`);
}

/** A staff user reads like an internal client, with the scopes of the role. */
const toCaller = ({ id, role }: StaffUser) =>
  new Caller({
    clientId: id,
    clientName: 'Console',
    integratorId: null,
    internal: true,
    userId: null,
    builderId: null,
    scopes: new Set(getStaffScopes(role)),
    connections: new Map(),
  });

/** Records whose personal data a response contains before it is sent. Without the record there is no response. CON-5. */
function recordPersonalReads(databases: Databases, clock: Clock): ApolloServerPlugin<RequestContext> {
  return {
    requestDidStart: async () => ({
      async willSendResponse({ contextValue, response }) {
        const { personalReads, region, operation } = contextValue as ConsoleContext;
        try {
          await personalReads.record(databases[region], clock.now());
        } catch (thrown) {
          operation.largeResult = undefined;
          const error = toGraphqlError(toApiError(thrown));
          response.http.status = toApiError(thrown).status;
          const singleResult = { errors: [formatError(error.toJSON(), error)], extensions: { cost: operation.cost } };
          response.body = { kind: 'single', singleResult };
        }
      },
    }),
  };
}
