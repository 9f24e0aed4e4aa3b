import { ScopesDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';

interface Props {
  legend: string;
  value: readonly string[];
  onChange: (scopes: readonly string[]) => void;
  /** Whether scopes of internal clients are offered too. */
  internal?: boolean;
  disabled?: boolean;
}

/** A choice of scopes, each with its description. */
export function ScopeChoice({ legend, value: scopes, onChange, internal = false, disabled = false }: Props) {
  const { data } = useRequest(ScopesDocument, {});
  const offered = (data?.scopes ?? []).filter((entry) => internal || !entry.internal || scopes.includes(entry.scope));
  const toggle = (scope: string, isChosen: boolean) =>
    onChange(offered.map((entry) => entry.scope).filter((one) => (one === scope ? isChosen : scopes.includes(one))));
  return (
    <fieldset disabled={disabled}>
      <legend>{legend}</legend>
      <div className="scope-list">
        {offered.map(({ scope, description }) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={({ target }) => toggle(scope, target.checked)}
            />
            <span>
              <code>{scope}</code> <span className="soft small">{description}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
