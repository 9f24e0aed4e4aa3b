import { Migration20261126120000Initial } from './20261126120000-initial.ts';

/** Every migration, oldest first. `npm run cli -- migrate create` writes this file. */
export const migrations = [Migration20261126120000Initial];
