import type { Config } from './config.ts';
import type { DemoSummary } from './database/demo/load.ts';

/** What the console shows once the service listens. */
export function welcome({ baseUrl }: Config, demo: DemoSummary | null): string {
  const lines = [
    '',
    `  Builder Integration API   ${baseUrl}`,
    '',
    `  REST reference            ${baseUrl}/docs`,
    `  OpenAPI document          ${baseUrl}/openapi.json`,
    `  GraphQL, Apollo Sandbox   ${baseUrl}/graphql`,
    `  Health                    ${baseUrl}/health/ready`,
  ];
  if (demo) {
    const body = JSON.stringify({
      grant_type: 'client_credentials',
      client_id: demo.clientId,
      client_secret: demo.clientSecret,
      audience: baseUrl,
      scope: demo.scopes.join(' '),
    });
    lines.push(
      `  Demo credentials          ${demo.file}`,
      '',
      '  Fetch a token, then list builders:',
      '',
      `  TOKEN=$(curl -s ${baseUrl}/oauth/token -H 'Content-Type: application/json' -d '${body}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
      `  curl -s ${baseUrl}/builders -H "Authorization: Bearer $TOKEN"`,
    );
  }
  return `${lines.join('\n')}\n\n`;
}
