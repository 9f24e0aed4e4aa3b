export * from './queue.ts';
export * from './roster.ts';
