import { Trigger } from '@mikro-orm/decorators/legacy';

/** Declares the triggers that add and renew the rows of `photo_rendition`. A migration creates their function. */
export function QueuesRenditions(owner: new () => object): void {
  const scopes = {
    insert: 'referencing new table as changed for each statement',
    update: 'for each row when (old.key is distinct from new.key)',
  };
  for (const event of ['insert', 'update'] as const) {
    const name = `photo_rendition_${event}`;
    const expression = `create trigger "${name}" after ${event} on "photo" ${scopes[event]} execute function "photo_rendition_queue"()`;
    Trigger({ name, timing: 'after', events: [event], forEach: 'statement', expression })(owner);
  }
}
