import { createServiceDefinition } from '../../src/app.ts';

/** What the services of all test files of this worker serve: made once, because it takes half a second of processor time. */
export const definition = await createServiceDefinition();

export const { schema, consoleSchema, operations } = definition;
