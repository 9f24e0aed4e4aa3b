import type { ResponseMeter } from '../schema/response-meter.ts';
import type { RequestContext } from '../src/context.ts';
import type { Database } from '../src/database/database.ts';
import type { Storage } from '../src/storage/storage.ts';
import type { Loaders } from './loaders/loaders.ts';

/** What every resolver of ours is given. */
export type Context = RequestContext<Database, Loaders, Storage, ResponseMeter>;
