import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';

type Values = Readonly<Record<string, unknown>>;

/** A field that an operation selects: a query or mutation, or a field of their results. */
export interface SelectedField {
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
  variables: Values;
  /** Variables as they were sent, and the declared defaults of the others. */
  allVariables: Values;
  roots: readonly SelectedField[];
}

/**
 * Returns the root fields of an operation by response key, with those of fragments, without introspection.
 *
 * @param variables Values of `@skip` and `@include`; without it, the fields of all conditions are returned.
 */
export function listRootFields(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
  variables?: Values,
): SelectedField[] {
  const roots = new Map<string, SelectedField>();
  for (const root of listFields(schema, document, schema.getRootType(operation)!, selectionSet, variables))
    if (!roots.has(root.key)) roots.set(root.key, root);
  return [...roots.values()];
}

/** Returns the fields of a selection set, with those of fragments, without those of introspection. */
export function listFields(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  parent: GraphQLNamedType,
  selectionSet: SelectionSetNode,
  variables?: Values,
): SelectedField[] {
  const found: SelectedField[] = [];
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined) => {
    for (const selection of selections) {
      if (variables && !isIncluded(selection.directives, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const field = isObjectType(type) && type.getFields()[selection.name.value];
        if (field) found.push({ key: (selection.alias ?? selection.name).value, node: selection, field });
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition } = selection;
        collect(selection.selectionSet, typeCondition ? schema.getType(typeCondition.name.value) : type);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = definitions.find(
          (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value,
        ) as FragmentDefinitionNode | undefined;
        if (fragment) collect(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value));
      }
    }
  };
  collect(selectionSet, parent);
  return found;
}

/** Whether no `@skip` or `@include` leaves a selection out. One without a valid value, which GraphQL rejects, leaves nothing out. */
export function isIncluded(directives: readonly DirectiveNode[] = [], variables: Values): boolean {
  return directives.every(({ name, arguments: [condition] = [] }) => {
    const value = condition && valueFromASTUntyped(condition.value, variables);
    return name.value === 'skip' ? value !== true : value !== false;
  });
}

/** Returns the variables that were sent, with the declared defaults of the others. */
export function withDefaults({ variableDefinitions = [] }: OperationDefinitionNode, variables: Values): Values {
  const defaults = variableDefinitions.flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
  );
  return { ...Object.fromEntries(defaults), ...variables };
}
