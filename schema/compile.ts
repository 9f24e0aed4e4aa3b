import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isAbstractType,
  Kind,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { CompiledOperation } from './execution.ts';

/** Beyond, an operation takes longer to compile than anybody should wait for. */
const MAX_SIZE = 5_000;

/** Null where the operation has to be interpreted: it asks about the schema, its answer holds a union, or it is too large. */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): CompiledOperation | null {
  const operation = getOperationAST(document, operationName);
  if (!operation || sizeOf(document) > MAX_SIZE || !isCompilable(schema, document)) return null;
  return new CompiledOperation(schema, document, operation);
}

function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  const typeInfo = new TypeInfo(schema);
  let compilable = true;
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field: ({ alias, name }) => {
        const type = getNamedType(typeInfo.getType());
        compilable &&= name.value !== '__schema' && name.value !== '__type';
        // An object literal takes `__proto__` for something else than a name.
        compilable &&= alias?.value !== '__proto__' && !(type && isAbstractType(type));
      },
    }),
  );
  return compilable;
}

/** Fields and fragments of a document, each fragment counted wherever it is spread: a few lines of them can be millions. */
function sizeOf({ definitions }: DocumentNode): number {
  const fragments = new Map<string, FragmentDefinitionNode>(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  const sizes = new Map<string, number>();
  const ofFragment = (name: string): number => {
    const size = sizes.get(name) ?? ofSet(fragments.get(name)?.selectionSet);
    sizes.set(name, size);
    return size;
  };
  const ofSet = (set: SelectionSetNode | undefined): number => {
    let size = 0;
    for (const one of set?.selections ?? []) {
      size += 1 + (one.kind === Kind.FRAGMENT_SPREAD ? ofFragment(one.name.value) : ofSet(one.selectionSet));
    }
    return size;
  };
  return definitions.reduce((sum, one) => sum + ('selectionSet' in one ? ofSet(one.selectionSet) : 0), 0);
}
