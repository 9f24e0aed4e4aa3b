import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/**
 * Maximum comparisons of fields with the same response key: about thirty milliseconds of validation by graphql-js. The dashboards of
 * docs/graphql.md need fewer than ten; twenty components that select the same ten fields at each of five levels need a thousand.
 */
export const MAX_COMPARISONS = 5_000;

/** Cost of smaller units of work, as fractions of a comparison of two fields with their selections. */
const COSTS = {
  /** Two fields without arguments and selections. */
  leafPair: 0.05,
  /** Two selection sets or fragments, before their fields. */
  sourcePair: 0.25,
  /** A spread that is followed for each other selection set or fragment. */
  spread: 0.1,
  /** A response key that is looked up in each other selection set or fragment. */
  lookup: 0.03,
  /** A selection that is counted here. */
  selection: 0.05,
};

/** The selection sets that are merged into one response object. */
type MergedSelectionSets = SelectionSetNode[];

/** The distinct fields of merged selection sets by response key, and the number of sets and fragments with them. */
interface MergedFields {
  fields: Map<string, Set<FieldNode>>;
  fieldCount: number;
  spreadCount: number;
  /** Selection sets and fragments. graphql-js compares each with each. */
  sources: number;
}

/**
 * Returns the comparisons that validation makes to find fields that cannot be merged. Fragments count wherever they are spread; selection
 * sets that are merged repeatedly count once, because graphql-js caches their result. Stops soon after the limit.
 */
export function countComparisons({ definitions }: DocumentNode, limit = MAX_COMPARISONS): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const pending: MergedSelectionSets[] = [];
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if ('selectionSet' in definition) pending.push([definition.selectionSet!]);
  }
  const ids = new Map<SelectionSetNode, number>();
  const getId = (set: SelectionSetNode) => ids.get(set) ?? ids.set(set, ids.size).size - 1;
  const seen = new Set<string>();
  let count = 0;
  for (let merged = pending.pop(); merged && count <= limit; merged = pending.pop()) {
    const key = merged.map(getId).join();
    if (seen.has(key)) continue;
    seen.add(key);
    const selected = mergeFields(merged, fragments);
    count += computeCost(selected);
    for (const fields of selected.fields.values()) {
      const children = [...fields].flatMap(({ selectionSet }) => selectionSet ?? []);
      if (children.length > 0) pending.push(children);
    }
  }
  return Math.ceil(count);
}

function mergeFields(
  selectionSets: MergedSelectionSets,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): MergedFields {
  const selected: MergedFields = { fields: new Map(), fieldCount: 0, spreadCount: 0, sources: selectionSets.length };
  const spread = new Set<string>();
  const pending: SelectionNode[] = selectionSets.flatMap(({ selections }) => selections);
  for (let selection = pending.pop(); selection; selection = pending.pop()) {
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      const fields = selected.fields.get(key);
      if (fields) fields.add(selection);
      else selected.fields.set(key, new Set([selection]));
      selected.fieldCount++;
      continue;
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      pending.push(...selection.selectionSet.selections);
      continue;
    }
    selected.spreadCount++;
    const { value: name } = selection.name;
    if (spread.has(name)) continue;
    spread.add(name);
    selected.sources++;
    pending.push(...(fragments.get(name)?.selectionSet.selections ?? []));
  }
  return selected;
}

function computeCost({ fields, fieldCount, spreadCount, sources }: MergedFields): number {
  const others = sources - 1;
  let cost = countPairs(sources) * COSTS.sourcePair + (fieldCount + spreadCount) * COSTS.selection;
  cost += others * (spreadCount * COSTS.spread + fieldCount * COSTS.lookup);
  for (const sameKey of fields.values()) {
    if (sameKey.size === 1) continue;
    const isLeaf = ({ arguments: given = [], selectionSet }: FieldNode) => given.length === 0 && !selectionSet;
    const most = Math.max(...[...sameKey].map((field) => field.arguments?.length ?? 0));
    cost += countPairs(sameKey.size) * ([...sameKey].every(isLeaf) ? COSTS.leafPair : 1 + most);
  }
  return cost;
}

const countPairs = (count: number) => (count * (count - 1)) / 2;
