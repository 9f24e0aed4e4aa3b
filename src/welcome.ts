import type { Config } from './config.ts';
import type { DemoSummary } from './demo/load.ts';

/** Enough for a first look around. */
const SCOPES = 'read:builders read:projects read:subcontractors read:timesheets';

/** Takes the token out of the answer with what every shell has. */
const ACCESS_TOKEN = `sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'`;

/** What the console shows once the service listens. */
export function welcome({ baseUrl, production }: Config, demo: DemoSummary | null): string {
  const lines = [
    '',
    `  Builder Integration API   ${baseUrl}`,
    '',
    `  REST reference            ${baseUrl}/docs`,
    `  OpenAPI document          ${baseUrl}/openapi.json`,
    `  ${production ? 'GraphQL                ' : 'GraphQL, Apollo Sandbox'}   ${baseUrl}/graphql`,
    `  Health                    ${baseUrl}/health/ready`,
  ];
  if (demo) {
    lines.push(
      `  Demo credentials          ${demo.file}`,
      '',
      '  Fetch a token, then list builders:',
      '',
      `  TOKEN=$(curl -s ${baseUrl}/oauth/token -u ${demo.clientId}:${demo.clientSecret} \\`,
      `    -d grant_type=client_credentials -d audience=${baseUrl} -d 'scope=${SCOPES}' | ${ACCESS_TOKEN})`,
      `  curl -s ${baseUrl}/builders -H "Authorization: Bearer $TOKEN"`,
    );
  }
  return `${lines.join('\n')}\n\n`;
}
