import { type DefinitionNode, type DocumentNode, Kind, visit } from 'graphql';

/** Maximum spreads and variables that validation visits, counted per operation that reaches them: about twenty milliseconds. */
export const MAX_FRAGMENT_VISITS = 10_000;

/** What validation visits of an operation or fragment, once for each operation that reaches it. */
interface References {
  /** Names of the fragments that are spread. */
  spreads: string[];
  /** Spreads and variables. */
  size: number;
}

/**
 * Returns the spreads and variables that validation would visit: those of every fragment, for each operation that reaches it.
 * Stops soon after the limit.
 */
export function countFragmentVisits({ definitions }: DocumentNode): number {
  const fragments = new Map<string, References>();
  const operations: References[] = [];
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION)
      fragments.set(definition.name.value, collectReferences(definition));
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(collectReferences(definition));
  }
  let count = 0;
  for (const operation of operations) {
    const reached = new Set<string>();
    const pending = [operation];
    for (let next = pending.pop(); next && count <= MAX_FRAGMENT_VISITS; next = pending.pop()) {
      count += next.size;
      for (const name of next.spreads) {
        const fragment = fragments.get(name);
        if (!fragment || reached.has(name)) continue;
        reached.add(name);
        pending.push(fragment);
      }
    }
  }
  return count;
}

function collectReferences(definition: DefinitionNode): References {
  const spreads: string[] = [];
  let size = 1;
  visit(definition, {
    FragmentSpread({ name }) {
      spreads.push(name.value);
      size++;
    },
    Variable() {
      size++;
    },
  });
  return { spreads, size };
}
