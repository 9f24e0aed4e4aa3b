import { isObject } from '../../../schema/is-object.ts';

/** Fields with free-form objects, in which null is data. */
const FREE_FORM = new Set(['contentMetadata', 'sharingMetadata', 'properties']);

/** Removes the fields of a report's content that are null, which is the same as absent (PRP-2). Free-form objects stay as they are. */
export function removeNullFields(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) removeNullFields(item);
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (member === null) delete value[name];
    else if (!FREE_FORM.has(name)) removeNullFields(member);
    // The items of a list are no free-form objects.
    else if (name === 'properties' && typeof value.type === 'string' && value.type.endsWith('LIST'))
      removeNullFields((member as typeof value).items);
  }
}
