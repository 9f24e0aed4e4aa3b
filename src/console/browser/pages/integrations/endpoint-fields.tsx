import { BuilderName, BuilderPicker } from '../../components/builder-picker.tsx';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import type { EndpointPartFragment } from '../../graphql/generated.ts';
import type { Form } from '../../shared/use-form.ts';
import { EventTypeChoice } from './choices.tsx';

/** What can be changed of a webhook endpoint. */
export type EndpointValues = Pick<EndpointPartFragment, 'url' | 'types' | 'builderIds'>;

const orAll = (chosen: string[]) => (chosen.length > 0 ? chosen : null);

/** Fields of what can be changed of a webhook endpoint. No chosen types or builders are all. */
export function EndpointFields({ bind }: { bind: Form<EndpointValues>['bind'] }) {
  const types = bind('types');
  const builders = bind('builderIds');
  const builderIds = builders.value ?? [];
  const setBuilders = (ids: string[]) => builders.onChange(orAll(ids));
  return (
    <>
      <TextField label="Address" type="url" maxLength={2000} {...bind('url')} />
      <EventTypeChoice
        legend="Types of events; none chosen for all"
        value={types.value ?? []}
        onChange={(chosen) => types.onChange(orAll(chosen))}
      />
      <fieldset>
        <legend>Builders</legend>
        {builderIds.length === 0 && <p className="soft">All that are connected</p>}
        <ul className="stack">
          {builderIds.map((id) => (
            <li key={id} className="actions">
              <BuilderName id={id} />
              <Button onClick={() => setBuilders(builderIds.filter((other) => other !== id))}>Remove</Button>
            </li>
          ))}
        </ul>
        <BuilderPicker
          label="Only for a builder"
          value=""
          excluded={builderIds}
          onChoose={({ id }) => setBuilders([...builderIds, id])}
        />
      </fieldset>
    </>
  );
}
