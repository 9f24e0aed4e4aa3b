/**
 * Returns a function that loads a value by its key, from what is stored when it is called. Keys that are requested while others are loaded
 * are loaded together afterwards, so that there is one load at a time.
 */
export function createBatchedLoader<Value>(
  load: (keys: string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  let running: Promise<unknown> = Promise.resolve();
  let next: { keys: Set<string>; values: Promise<ReadonlyMap<string, Value>> } | null = null;
  const begin = () => {
    const keys = new Set<string>();
    const values = running.then(() => {
      next = null;
      return load([...keys]);
    });
    running = values.catch(() => undefined);
    return { keys, values };
  };
  return async (key) => {
    next ??= begin();
    next.keys.add(key);
    return (await next.values).get(key);
  };
}
