import { BuilderName, BuilderPicker } from '../../components/builder-picker.tsx';
import { Button } from '../../components/button.tsx';
import { TextAreaField, TextField } from '../../components/fields.tsx';
import type { Form } from '../../shared/use-form.ts';

/** Values of the form of an endpoint. */
export interface EndpointValues {
  url: string;
  /** Types of events, separated by spaces, commas or lines; none for all. */
  types: string;
  /** None for all that are connected. */
  builderIds: readonly string[];
}

/** Returns edited values as variables of a mutation; what is absent is kept. */
export function toEndpointVariables({ url, types, builderIds }: Partial<EndpointValues>) {
  const chosen = types?.split(/[\s,]+/).filter((type) => type !== '');
  return {
    ...(url !== undefined && { url }),
    ...(chosen && { types: chosen.length > 0 ? chosen : null }),
    ...(builderIds && { builderIds: builderIds.length > 0 ? [...builderIds] : null }),
  };
}

/** What can be changed of a webhook endpoint. */
export function EndpointFields({ bind }: { bind: Form<EndpointValues>['bind'] }) {
  const { value: builderIds, onChange } = bind('builderIds');
  return (
    <>
      <TextField label="Address" type="url" maxLength={2000} {...bind('url')} />
      <TextAreaField label="Types of events, such as timesheet.created; empty for all" {...bind('types')} />
      <fieldset>
        <legend>Builders</legend>
        {builderIds.length === 0 && <p className="soft">All that are connected</p>}
        <ul className="stack">
          {builderIds.map((id) => (
            <li key={id} className="actions">
              <BuilderName id={id} />
              <Button onClick={() => onChange(builderIds.filter((other) => other !== id))}>Remove</Button>
            </li>
          ))}
        </ul>
        <BuilderPicker
          label="Only for a builder"
          value=""
          excluded={builderIds}
          onChoose={({ id }) => onChange([...builderIds, id])}
        />
      </fieldset>
    </>
  );
}
