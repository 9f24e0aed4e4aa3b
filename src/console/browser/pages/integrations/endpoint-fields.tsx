import { BuilderName, BuilderPicker } from '../../components/builder-picker.tsx';
import { Button } from '../../components/button.tsx';
import { TextAreaField, TextField } from '../../components/fields.tsx';

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

interface Props {
  values: EndpointValues;
  onChange: (changes: Partial<EndpointValues>) => void;
}

/** What can be changed of a webhook endpoint. */
export function EndpointFields({ values: { url, types, builderIds }, onChange }: Props) {
  const remove = (id: string) => onChange({ builderIds: builderIds.filter((other) => other !== id) });
  return (
    <>
      <TextField label="Address" type="url" maxLength={2000} value={url} onChange={(text) => onChange({ url: text })} />
      <TextAreaField
        label="Types of events, such as timesheet.created; empty for all"
        value={types}
        onChange={(text) => onChange({ types: text })}
      />
      <fieldset>
        <legend>Builders</legend>
        {builderIds.length === 0 && <p className="soft">All that are connected</p>}
        <ul className="stack">
          {builderIds.map((id) => (
            <li key={id} className="actions">
              <BuilderName id={id} />
              <Button onClick={() => remove(id)}>Remove</Button>
            </li>
          ))}
        </ul>
        <BuilderPicker
          label="Only for a builder"
          value=""
          excluded={builderIds}
          onChoose={({ id }) => onChange({ builderIds: [...builderIds, id] })}
        />
      </fieldset>
    </>
  );
}
