import type { Attack } from '../attack.ts';
import { bodyAttacks } from './bodies.ts';
import { connectionAttacks } from './connections.ts';
import { framingAttacks } from './framing.ts';
import { graphqlAttacks } from './graphql.ts';
import { imageAttacks } from './images.ts';
import { listAttacks } from './lists.ts';
import { lockAttacks } from './locks.ts';
import { oauthAttacks } from './oauth.ts';
import { toolAttacks } from './tools.ts';
import { webhookAttacks } from './webhooks.ts';

/** All attacks: first those that repeat a finding, in the order of the findings, then the others. */
export const ATTACKS: readonly Attack[] = [
  ...[...graphqlAttacks, ...imageAttacks, ...listAttacks, ...oauthAttacks],
  ...[...bodyAttacks, ...framingAttacks, ...connectionAttacks, ...lockAttacks, ...toolAttacks, ...webhookAttacks],
].sort((one, other) => (one.finding ?? '9').localeCompare(other.finding ?? '9'));
