import type { Config } from '../../config.ts';
import { ApiError } from '../../shared/errors.ts';
import { toTerminalText } from '../../shared/terminal-text.ts';
import { toLoggedPath } from './logged-path.ts';
import { formatLogLine } from './readable-log.ts';

/** Lines without secrets, at any level and whoever writes them: JSON, or text on a developer's terminal. OAU-42. */
export const loggerOptions = ({ logLevel, production }: Config) => ({
  level: logLevel,
  stream: !production && process.stdout.isTTY ? READABLE : undefined,
  serializers: { err: errorForLog, req: requestForLog, res: responseForLog },
  formatters: { log: (line: object) => redact(line, MAX_DEPTH) },
});

const READABLE = { write: (line: string) => void process.stdout.write(toTerminalText(formatLogLine(line))) };

/** Stack and code of an error or its public one's cause; a database error's detail and parameters hold other people's data and stay out. */
function errorForLog(thrown: Error & { code?: string }) {
  const error: typeof thrown = thrown instanceof ApiError && thrown.cause instanceof Error ? thrown.cause : thrown;
  return { type: error.name, code: error.code, message: error.message, stack: error.stack ?? '' };
}

const requestForLog = ({ method, url = '' }: { method?: string; url?: string }) => ({
  method,
  path: toLoggedPath(url),
});

const responseForLog = ({ statusCode }: { statusCode?: number }) => ({ statusCode });

/** Properties that hold credentials wherever they are: plugins log the headers of requests among their options. */
const CREDENTIALS = /^(raw)?(headers|trailers)$|authorization|cookie|password|secret|token$/i;

/** Objects in objects that are looked into. Deeper ones are not written. */
const MAX_DEPTH = 4;

/** Returns the object with the values of credentials replaced. */
function redact(values: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (CREDENTIALS.test(name)) return [name, '[redacted]'];
      const isPlain = Object.prototype.toString.call(value) === '[object Object]' && !(value instanceof Error);
      if (!isPlain || 'toJSON' in value) return [name, value];
      return [name, depth === 0 ? '[object]' : redact(value, depth - 1)];
    }),
  );
}
