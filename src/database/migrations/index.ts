import { Migration20261120154018_initial } from './20261120154018-initial.ts';

/** Every migration, oldest first. */
export const migrations = [Migration20261120154018_initial];
