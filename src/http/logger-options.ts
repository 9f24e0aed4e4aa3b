import type { Config } from '../config.ts';

/** JSON lines without secrets. */
export const loggerOptions = ({ logLevel }: Config) => ({ level: logLevel, serializers: { err: errorForLog } });

/** Stack and code of an error; a database error's detail and parameters hold other people's data and stay out. */
function errorForLog(error: Error & { code?: string }) {
  return { type: error.name, code: error.code, message: error.message, stack: error.stack ?? '' };
}
