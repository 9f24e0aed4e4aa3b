import { aroundAll, vi } from 'vitest';
import {
  READER_SETTINGS,
  REQUEST_SETTINGS,
  type SessionSettings,
  WRITER_SETTINGS,
} from '../../src/database/pool/session-settings.ts';
import { CLIENT_CONFIG } from '../../src/database/pool/timeouts.ts';

const FACTOR = 10;

/**
 * Multiplies by ten, for all tests of the file, the service's time limits of statements, locks and idle transactions, and those made with
 * `AbortSignal.timeout`. For tests in which requests wait on purpose, for a lock or for images: on a loaded machine, what they wait for
 * takes longer than the service allows. The wait for a connection and `Transaction.extendTimeout` keep their limits.
 */
export function useLongerTimeLimits(): void {
  // Before all hooks, because a connection keeps the limits with which it was opened.
  aroundAll(async (runTests) => {
    const undo = [REQUEST_SETTINGS, WRITER_SETTINGS, READER_SETTINGS].map((settings) =>
      assignTemporarily(settings, multiplyTimeouts(settings)),
    );
    undo.push(assignTemporarily(CLIENT_CONFIG, { query_timeout: CLIENT_CONFIG.query_timeout * FACTOR }));
    const createSignal = AbortSignal.timeout;
    const spy = vi.spyOn(AbortSignal, 'timeout');
    spy.mockImplementation((milliseconds) => createSignal(milliseconds * FACTOR));
    try {
      await runTests();
    } finally {
      spy.mockRestore();
      for (const restore of undo) restore();
    }
  });
}

const multiplyTimeouts = (settings: SessionSettings): SessionSettings =>
  Object.fromEntries(
    Object.entries(settings)
      .filter(([name]) => name.endsWith('_timeout'))
      .map(([name, value]) => [name, String(Number(value) * FACTOR)]),
  );

/** Assigns the properties. Returns a function that restores the former values. */
export function assignTemporarily<T extends object>(
  target: T,
  properties: NoInfer<{ [K in keyof T]?: unknown }>,
): () => void {
  const before = { ...target };
  Object.assign(target, properties);
  return () => void Object.assign(target, before);
}
