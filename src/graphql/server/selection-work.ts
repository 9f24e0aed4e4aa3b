import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/**
 * Comparisons of fields that are merged at the same place, at most: some thirty milliseconds of graphql-js' validation. The
 * dashboards of docs/graphql.md need fewer than ten, twenty components that select the same ten fields at each of five levels a thousand.
 */
export const MAX_COMPARISONS = 5_000;

/** Work that takes less than to compare two fields with their selections, as parts of such a comparison. */
const PARTS = {
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

/** The selection sets that are merged at one place of the response. */
type Place = SelectionSetNode[];

/** What is selected at one place: its fields by response key, once each, and what they are written in. */
interface Selected {
  fields: Map<string, Set<FieldNode>>;
  fieldCount: number;
  spreadCount: number;
  /** Selection sets and fragments. graphql-js compares each with each. */
  sources: number;
}

/**
 * Returns the comparisons that validation would make to find fields that cannot be merged. Fragments are expanded wherever they are
 * spread; a place that merges the same selection sets again is counted once, as graphql-js remembers it. Stops soon after the
 * limit, so that its own work is bounded too.
 */
export function countComparisons({ definitions }: DocumentNode, limit = MAX_COMPARISONS): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const places: Place[] = [];
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if ('selectionSet' in definition) places.push([definition.selectionSet!]);
  }
  const ids = new Map<SelectionSetNode, number>();
  const idOf = (set: SelectionSetNode) => ids.get(set) ?? ids.set(set, ids.size).size - 1;
  const seen = new Set<string>();
  let count = 0;
  for (let place = places.pop(); place && count <= limit; place = places.pop()) {
    const key = place.map(idOf).join();
    if (seen.has(key)) continue;
    seen.add(key);
    const selected = selectedAt(place, fragments);
    count += costOf(selected);
    for (const fields of selected.fields.values()) {
      const merged = [...fields].flatMap(({ selectionSet }) => selectionSet ?? []);
      if (merged.length > 0) places.push(merged);
    }
  }
  return Math.ceil(count);
}

function selectedAt(place: Place, fragments: ReadonlyMap<string, FragmentDefinitionNode>): Selected {
  const selected: Selected = { fields: new Map(), fieldCount: 0, spreadCount: 0, sources: place.length };
  const spread = new Set<string>();
  const pending: SelectionNode[] = place.flatMap(({ selections }) => selections);
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

function costOf({ fields, fieldCount, spreadCount, sources }: Selected): number {
  const others = sources - 1;
  let cost = pairsOf(sources) * PARTS.sourcePair + (fieldCount + spreadCount) * PARTS.selection;
  cost += others * (spreadCount * PARTS.spread + fieldCount * PARTS.lookup);
  for (const sameKey of fields.values()) {
    if (sameKey.size === 1) continue;
    const isLeaf = ({ arguments: given = [], selectionSet }: FieldNode) => given.length === 0 && !selectionSet;
    const most = Math.max(...[...sameKey].map((field) => field.arguments?.length ?? 0));
    cost += pairsOf(sameKey.size) * ([...sameKey].every(isLeaf) ? PARTS.leafPair : 1 + most);
  }
  return cost;
}

const pairsOf = (count: number) => (count * (count - 1)) / 2;
