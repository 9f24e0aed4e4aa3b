import { DurationCounts } from '../shared/duration-counts.ts';
import type { ByteStore } from './byte-store.ts';

/** Returns the same store, with its operations counted and measured. Reading a stream or a list is not part of an operation. */
export function measureStore(store: ByteStore): ByteStore {
  const operations = new DurationCounts(20);
  return {
    operations,
    presignUpload: (...args) => operations.measure('presignUpload', () => store.presignUpload(...args)),
    put: (...args) => operations.measure('put', () => store.put(...args)),
    putOnce: (...args) => operations.measure('putOnce', () => store.putOnce(...args)),
    copy: (...args) => operations.measure('copy', () => store.copy(...args)),
    open: (...args) => operations.measure('open', () => store.open(...args)),
    stat: (...args) => operations.measure('stat', () => store.stat(...args)),
    remove: (...args) => operations.measure('remove', () => store.remove(...args)),
    toLocalPath: (key) => store.toLocalPath(key),
    list: (prefix) => store.list(prefix),
  };
}
