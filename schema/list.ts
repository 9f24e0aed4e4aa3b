import { type ClassType, Extensions, Field, ObjectType } from 'type-graphql';

/** Returns the envelope `{ data }` of a list without pages: `CostCodeList` for `CostCode`. LST-6. */
export function createListType<T extends object>(
  item: ClassType<T>,
  owner: 'builder' | 'integrator' = 'builder',
): ClassType<{ data: T[] }> {
  @ObjectType(`${item.name}List`, { description: `Every ${item.name} of the ${owner}.`, simpleResolvers: true })
  @Extensions({ envelope: true })
  class ItemList {
    @Field(() => [item], { description: 'All items.' })
    data!: T[];
  }
  return ItemList;
}
