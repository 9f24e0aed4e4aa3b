/** Milliseconds after which a failure is not repeated. */
const QUICK_MS = 5_000;

/**
 * Runs the work, and once more where it failed within 5 seconds. Returns the last result.
 *
 * @param now milliseconds of a clock that only advances.
 */
export async function repeatQuickFailure<Result>(
  work: () => Promise<Result>,
  hasFailed: (result: Result) => boolean,
  now = () => performance.now(),
): Promise<Result> {
  const startedAt = now();
  const result = await work();
  return hasFailed(result) && now() - startedAt <= QUICK_MS ? work() : result;
}
