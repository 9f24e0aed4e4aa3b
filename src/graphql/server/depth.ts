import { type ASTVisitor, Kind, type SelectionSetNode, type ValidationContext } from 'graphql';
import { costLimitExceeded } from '../../limits/response-meter.ts';
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
      const height = computeHeight(selectionSet);
      if (height <= MAX_FIELD_DEPTH) return;
      context.reportError(toGraphqlError(costLimitExceeded('nest so many fields', height, MAX_FIELD_DEPTH)));
    },
  };
}
