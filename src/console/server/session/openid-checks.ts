import { createHmac } from 'node:crypto';

/** What binds an answer of the provider to the request of one browser. */
export interface SignInChecks {
  state: string;
  nonce: string;
  /** PKCE. */
  verifier: string;
}

/** Returns the checks of a sign-in, which only the browser with the secret in its cookie can pass, and which leads to one page of the console. */
export function deriveChecks(secret: string, returnPath: string): SignInChecks {
  const derive = (use: string) => createHmac('sha256', secret).update(use).digest('base64url');
  return {
    state: `${derive(`state ${returnPath}`)}.${Buffer.from(returnPath).toString('base64url')}`,
    nonce: derive('nonce'),
    verifier: derive('verifier'),
  };
}

/** Returns the page of the console that the `state` names; undefined without one. It counts only when the whole state is verified. */
export function readReturnPath(state: unknown): string | undefined {
  if (typeof state !== 'string') return undefined;
  return Buffer.from(state.slice(state.indexOf('.') + 1), 'base64url').toString();
}
