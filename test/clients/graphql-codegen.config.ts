import type { CodegenConfig } from '@graphql-codegen/cli';
import { scalars } from '../../docs/graphql-codegen.ts';

declare const process: { env: Record<string, string | undefined> };

const { SCHEMA = '../../schema/schema.graphql', OUT = '.' } = process.env;

export default {
  schema: SCHEMA,
  documents: 'graphql-client.ts',
  generates: {
    [`${OUT}/graphql-types.ts`]: {
      plugins: ['typescript', 'typescript-operations'],
      config: { scalars, strictScalars: true, enumsAsTypes: true, useTypeImports: true },
    },
  },
} satisfies CodegenConfig;
