import { Migration20261120172902Initial } from './20261120172902-initial.ts';

/** Every migration, oldest first. */
export const migrations = [Migration20261120172902Initial];
