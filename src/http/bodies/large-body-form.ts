/** The fields of a large JSON body that an operation reads, and which of them are Page documents. Other fields are dropped. */
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
