import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';

type Values = Readonly<Record<string, unknown>>;

/** A query or mutation that an operation calls. */
export interface RootField {
  /** Response key: the alias, or the name of the field. */
  key: string;
  node: FieldNode;
  field: GraphQLField<unknown, unknown>;
}

/** An operation that is about to execute. */
export interface PendingOperation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  /** Variables as they were sent, and with the declared defaults of the others. */
  variables: Values;
  sent: Values;
  roots: readonly RootField[];
}

/**
 * Returns the root fields of an operation by response key, with those of fragments, without introspection.
 *
 * @param variables Values of `@skip` and `@include`; without it, the fields of all conditions are returned.
 */
export function listRootFields(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
  variables?: Values,
): RootField[] {
  const fields = schema.getRootType(operation)!.getFields();
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  const roots = new Map<string, RootField>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode) => {
    for (const selection of selections) {
      if (variables && !isIncluded(selection.directives, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const field = fields[selection.name.value];
        const key = (selection.alias ?? selection.name).value;
        if (field && !roots.has(key)) roots.set(key, { key, node: selection, field });
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  collect(selectionSet);
  return [...roots.values()];
}

/** Whether `@skip` and `@include` select a field or fragment. */
export function isIncluded(directives: readonly DirectiveNode[] = [], variables: Values): boolean {
  return directives.every(({ name, arguments: [condition] = [] }) => {
    const value = condition && toRawValue(condition.value, variables);
    return name.value === 'skip' ? value !== true : value !== false;
  });
}

/** Returns the JSON value of a literal, with the variables in it as they were sent. */
export const toRawValue = (node: ValueNode, variables: Values): unknown => valueFromASTUntyped(node, variables);

/** Returns the variables that were sent, with the declared defaults of the others. */
export function withDefaults({ variableDefinitions = [] }: OperationDefinitionNode, variables: Values): Values {
  const defaults = variableDefinitions.flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
  );
  return { ...Object.fromEntries(defaults), ...variables };
}
