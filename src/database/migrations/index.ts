import { Migration20261120164112Initial } from './20261120164112-initial.ts';

/** Every migration, oldest first. */
export const migrations = [Migration20261120164112Initial];
