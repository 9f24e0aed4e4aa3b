import { DurationCounts } from '../shared/duration-counts.ts';
import { traced } from '../shared/tracing.ts';
import type { ByteStore } from './byte-store.ts';

/** Returns the same store, with its operations counted and measured. Reading a stream or a list is not part of an operation. */
export function measureStore(store: ByteStore): ByteStore {
  const operations = new DurationCounts(20);
  const measure = <T>(name: string, work: () => Promise<T>) =>
    traced(`store ${name}`, {}, () => operations.measure(name, work));
  return {
    operations,
    presignUpload: (...args) => measure('presignUpload', () => store.presignUpload(...args)),
    put: (...args) => measure('put', () => store.put(...args)),
    putOnce: (...args) => measure('putOnce', () => store.putOnce(...args)),
    copy: (...args) => measure('copy', () => store.copy(...args)),
    open: (...args) => measure('open', () => store.open(...args)),
    stat: (...args) => measure('stat', () => store.stat(...args)),
    remove: (...args) => measure('remove', () => store.remove(...args)),
    toLocalPath: (key) => store.toLocalPath(key),
    list: (prefix) => store.list(prefix),
  };
}
