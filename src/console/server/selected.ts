import type { GraphQLResolveInfo } from 'graphql';
import { type Selection, toSelection } from '../../../schema/selection.ts';

/** Returns what an operation reads of a field's records; null for all properties. Compiled operations provide it. */
export function selectionIn(info: object): Selection | null {
  const { selection, fieldNodes } = info as GraphQLResolveInfo & { selection?: Selection | null };
  return selection !== undefined || !fieldNodes ? (selection ?? null) : toSelection(info as GraphQLResolveInfo);
}
