import type { Config } from './config.ts';
import type { DemoSummary } from './demo/load.ts';

/** Scopes of the example token. */
const SCOPES = 'read:builders read:projects read:subcontractors read:timesheets';

/** Extracts the token from the response with `sed`, which every system has. */
const ACCESS_TOKEN = `sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'`;

/** A staff user of every region with the most permissions, for the first sign-in. */
function describeStaff(demo: DemoSummary | null): string[] {
  const staff = demo?.staff.find(({ role }) => role === 'ADMIN') ?? demo?.staff[0];
  return staff ? [`  Sign in as                ${staff.email}   ${staff.password}`, ''] : [];
}

/** Formats the message printed when the service listens. */
export function formatWelcome({ baseUrl, production }: Config, demo: DemoSummary | null): string {
  const lines = [
    '',
    `  Builder Integration API   ${baseUrl}`,
    '',
    `  Staff console             ${baseUrl}/console`,
    ...describeStaff(demo),
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
