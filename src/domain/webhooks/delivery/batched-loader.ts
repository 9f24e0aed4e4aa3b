/** Requests that one load answers. Those of a larger batch would all continue in one turn of the event loop. */
const BATCH = 16;

interface WaitingRequest<Value> {
  key: string;
  resolve: (value: Value | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that loads a value by its key, from what is stored when it is called. Requests that come while others are loaded are
 * answered together afterwards, in their order, so that there is one load at a time.
 */
export function createBatchedLoader<Value>(
  load: (keys: string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  const waiting: WaitingRequest<Value>[] = [];
  let isLoading = false;
  const run = async () => {
    isLoading = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      try {
        const values = await load([...new Set(batch.map(({ key }) => key))]);
        for (const { key, resolve } of batch) resolve(values.get(key));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isLoading = false;
  };
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (!isLoading) void run();
    });
}
