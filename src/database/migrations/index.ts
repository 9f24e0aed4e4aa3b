import { Migration20261120172324Initial } from './20261120172324-initial.ts';

/** Every migration, oldest first. */
export const migrations = [Migration20261120172324Initial];
