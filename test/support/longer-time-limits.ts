import { beforeAll, vi } from 'vitest';
import {
  READER_SETTINGS,
  REQUEST_SETTINGS,
  type SessionSettings,
  WRITER_SETTINGS,
} from '../../src/database/pool/session-settings.ts';
import { CLIENT_CONFIG } from '../../src/database/pool/timeouts.ts';

const FACTOR = 10;

/**
 * Makes the service's time limits of statements, locks, idle transactions and `AbortSignal.timeout` ten times as long, for the rest of the file.
 * For tests in which requests wait on purpose, for a lock or for images: on a loaded machine, what they wait for takes longer than the service
 * allows. Call it before the hook that starts the service, whose connections keep the limits with which they were opened.
 */
export function useLongerTimeLimits(): void {
  beforeAll(() => {
    const restore = [REQUEST_SETTINGS, WRITER_SETTINGS, READER_SETTINGS].map((settings) =>
      replace(settings, multiplyTimeouts(settings)),
    );
    restore.push(replace(CLIENT_CONFIG, { query_timeout: CLIENT_CONFIG.query_timeout * FACTOR }));
    const createSignal = AbortSignal.timeout;
    const spy = vi.spyOn(AbortSignal, 'timeout');
    spy.mockImplementation((milliseconds) => createSignal(milliseconds * FACTOR));
    return () => {
      spy.mockRestore();
      for (const undo of restore) undo();
    };
  });
}

const multiplyTimeouts = (settings: SessionSettings): SessionSettings =>
  Object.fromEntries(
    Object.entries(settings)
      .filter(([name]) => name.endsWith('_timeout'))
      .map(([name, value]) => [name, String(Number(value) * FACTOR)]),
  );

/** Returns what restores the properties. */
function replace<T extends object>(target: T, properties: NoInfer<{ [K in keyof T]?: unknown }>): () => void {
  const before = { ...target };
  Object.assign(target, properties);
  return () => void Object.assign(target, before);
}
