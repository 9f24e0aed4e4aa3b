import { Migration20261120155310Initial } from './20261120155310-initial.ts';

/** Every migration, oldest first. */
export const migrations = [Migration20261120155310Initial];
