import { Migration20261120173400Initial } from './20261120173400-initial.ts';

/** Every migration, oldest first. */
export const migrations = [Migration20261120173400Initial];
