import { Migration20261120162804Initial } from './20261120162804-initial.ts';

/** Every migration, oldest first. */
export const migrations = [Migration20261120162804Initial];
