import { SCOPE_DECLARATIONS } from '../../../../schema/scopes.ts';

/** Returns the descriptions of the scopes by reads and writes (OAU-24). A scope without a description is listed under reads. */
export function describeScopes(scopes: readonly string[]): { readable: string[]; changeable: string[] } {
  const declared = Object.entries(SCOPE_DECLARATIONS).filter(([scope]) => scopes.includes(scope));
  const undeclared = scopes.filter((scope) => !(scope in SCOPE_DECLARATIONS));
  const listTexts = (kind: string) =>
    declared.filter(([scope]) => scope.startsWith(kind)).map(([, { description }]) => description);
  return { readable: [...listTexts('read:'), ...undeclared], changeable: listTexts('write:') };
}

/** Returns a short list of the scopes, such as `projects, changes to photos`. */
export const summarizeScopes = (scopes: readonly string[]): string =>
  scopes.map((scope) => (SCOPE_DECLARATIONS as Record<string, { label: string }>)[scope]?.label ?? scope).join(', ');
