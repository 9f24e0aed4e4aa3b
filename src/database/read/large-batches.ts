/** Approximate maximum bytes of large values that one statement reads. */
const LARGE_BATCH_BYTES = 4 * 1024 * 1024;

/** Groups the ids so that the large values that one statement reads have a bounded size. */
export function toBatches(sizes: Map<string, number>): string[][] {
  const batches: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [id, size] of sizes) {
    if (bytes + size > LARGE_BATCH_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(id);
    bytes += size;
  }
  return batches;
}
