/** Which parts of a large JSON body are Page documents, and which others an operation reads. All else is dropped. */
export type LargeBodyForm =
  | {
      kind: 'fields';
      /** Top-level fields that are read. */
      fields: readonly string[];
      /** Those of them that are Page documents. */
      documents: readonly string[];
    }
  /** A GraphQL request: its variables of the type of Page documents. */
  | { kind: 'graphql' };
