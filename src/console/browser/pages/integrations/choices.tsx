import { EventTypesDocument, ScopesDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';

interface Props {
  legend: string;
  value: string[];
  onChange: (values: string[]) => void;
  disabled?: boolean;
}

/** Checkboxes of values, each with its description. */
function Choices({ legend, value, onChange, disabled, options }: Props & { options: readonly (readonly string[])[] }) {
  const toggle = (option: string, isChosen: boolean) =>
    onChange(options.map(([one]) => one!).filter((one) => (one === option ? isChosen : value.includes(one))));
  return (
    <fieldset disabled={disabled}>
      <legend>{legend}</legend>
      <div className="choices">
        {options.map(([option, description]) => (
          <label key={option} className="check">
            <input
              type="checkbox"
              checked={value.includes(option!)}
              onChange={({ target }) => toggle(option!, target.checked)}
            />
            <span>
              <code>{option}</code> <span className="soft small">{description}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** A choice of scopes. @param props.internal Whether scopes of internal clients are offered too. */
export function ScopeChoice({ internal = false, ...props }: Props & { internal?: boolean }) {
  const { data } = useRequest(ScopesDocument, {});
  const offered = (data?.scopes ?? []).filter((one) => internal || !one.internal || props.value.includes(one.scope));
  return <Choices options={offered.map(({ scope, description }) => [scope, description])} {...props} />;
}

/** A choice of types of events, with the scopes that they need. */
export function EventTypeChoice(props: Props) {
  const { data } = useRequest(EventTypesDocument, {});
  return <Choices options={(data?.eventTypes ?? []).map(({ type, scope }) => [type, scope])} {...props} />;
}
