import { BuilderName } from '../../components/builder-name.tsx';
import { BuilderPicker } from '../../components/builder-picker.tsx';

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
  return (
    <>
      <label className="field">
        Address
        <input
          type="url"
          required
          maxLength={2000}
          value={url}
          onChange={({ target }) => onChange({ url: target.value })}
        />
      </label>
      <label className="field">
        Types of events, such as timesheet.created; empty for all
        <textarea value={types} onChange={({ target }) => onChange({ types: target.value })} />
      </label>
      <fieldset>
        <legend>Builders</legend>
        {builderIds.length === 0 && <p className="soft">All that are connected</p>}
        <ul className="stack">
          {builderIds.map((id) => (
            <li key={id} className="actions">
              <BuilderName id={id} />
              <button
                type="button"
                onClick={() => onChange({ builderIds: builderIds.filter((other) => other !== id) })}
              >
                Remove
              </button>
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
