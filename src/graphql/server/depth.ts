import { type ASTVisitor, Kind, type SelectionSetNode, type ValidationContext } from 'graphql';
import { invalidField } from '../../shared/errors.ts';
import { toGraphqlError } from './errors.ts';

/** Maximum levels of fields (LIM-18): more than dashboards and introspection queries have. */
const MAX_FIELD_DEPTH = 20;

/** Validation rule: fields nest at most `MAX_FIELD_DEPTH` levels deep, with those of fragments. */
export function limitDepth(context: ValidationContext): ASTVisitor {
  const heights = new Map<string, number>();

  const computeFragmentHeight = (name: string): number => {
    const cachedHeight = heights.get(name);
    if (cachedHeight !== undefined) return cachedHeight;
    // Another rule rejects recursive fragments.
    heights.set(name, 0);
    const height = computeHeight(context.getFragment(name)?.selectionSet);
    heights.set(name, height);
    return height;
  };

  const computeHeight = (set: SelectionSetNode | undefined): number => {
    let height = 0;
    for (const selection of set?.selections ?? []) {
      const selectionHeight =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? computeFragmentHeight(selection.name.value)
          : computeHeight(selection.selectionSet) + (selection.kind === Kind.FIELD ? 1 : 0);
      height = Math.max(height, selectionHeight);
    }
    return height;
  };

  return {
    OperationDefinition({ selectionSet }) {
      if (computeHeight(selectionSet) <= MAX_FIELD_DEPTH) return;
      context.reportError(toGraphqlError(invalidField('query', `must not nest deeper than ${MAX_FIELD_DEPTH} fields`)));
    },
  };
}
