import type { Attack } from '../attack.ts';
import { bodyAttacks } from './bodies.ts';
import { connectionAttacks } from './connections.ts';
import { graphqlAttacks } from './graphql.ts';
import { imageAttacks } from './images.ts';
import { listAttacks } from './lists.ts';
import { lockAttacks } from './locks.ts';
import { oauthAttacks } from './oauth.ts';
import { webhookAttacks } from './webhooks.ts';

/** Every attack: first those that repeat a finding, in its order, then the others. */
export const ATTACKS: readonly Attack[] = [
  ...[...graphqlAttacks, ...imageAttacks, ...listAttacks, ...oauthAttacks],
  ...[...bodyAttacks, ...connectionAttacks, ...lockAttacks, ...webhookAttacks],
].sort((one, other) => (one.row ?? '9').localeCompare(other.row ?? '9'));
