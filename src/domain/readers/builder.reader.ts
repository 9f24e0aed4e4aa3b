import { Builder } from '../../../entities/builder.entity.ts';
import { Reader } from '../../database/read/reader.ts';

export const builders = new Reader(Builder, {
  filters: { reachable: { column: 'id', op: 'eq' } },
  callerFilters: ['reachable'],
});
